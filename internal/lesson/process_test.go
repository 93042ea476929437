package lesson

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

// childVariable names the variable that makes the test binary add lessons as a process of its own.
const childVariable = "LESSON_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		if err := childAdds(name, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// each is the number of lessons that a child adds.
const each = 40

func childAdds(name, data string) error {
	s := &Files{Data: data, Into: Own(data)}
	for n := range each {
		if _, err := s.Add(context.Background(), Lesson{Task: name, Text: fmt.Sprint(name, " ", n)}); err != nil {
			return err
		}
		if err := s.Used(context.Background(), fmt.Sprint(name, n), []string{Lesson{Task: name, Text: fmt.Sprint(name, " ", n)}.ID()}, true); err != nil {
			return err
		}
		fmt.Println(n)
	}
	return nil
}

func child(name, data string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], data)
	cmd.Env = append(os.Environ(), childVariable+"="+name, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// TestTogether: several processes can add lessons at the same time without losing or tearing any.
func TestTogether(t *testing.T) {
	t.Parallel()
	s, told := store(t)
	var all []*exec.Cmd
	for _, name := range []string{"a", "b", "c"} {
		cmd := child(name, s.Data)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	got, err := s.All(t.Context())
	if err != nil || len(got) != len(all)*each || len(*told) > 0 {
		t.Fatalf("%d lessons, warnings %q, %v", len(got), *told, err)
	}
	for _, l := range got {
		if l.Done != 1 {
			t.Errorf("%s: %+v", l.Text, l.Uses)
		}
	}
}

// TestTornAnywhere: if a writer is killed, every lesson it has reported is in the file, at most one
// line is torn, and later writers can still append.
func TestTornAnywhere(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		s, told := store(t)
		cmd := child("a", s.Data)
		pipe, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		out := bufio.NewScanner(pipe)
		said, enough := -1, rand.IntN(each-10)
		for said < enough && out.Scan() {
			if _, err := fmt.Sscan(out.Text(), &said); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if _, err := s.Add(t.Context(), Lesson{Text: "behind it"}); err != nil {
			t.Fatal(err)
		}
		all, err := s.All(t.Context())
		if err != nil || len(all) < said+2 || len(*told) > 1 {
			t.Fatalf("%d of %d lessons, warnings %q, %v", len(all), said+2, *told, err)
		}
	}
}
