package tamper

import (
	"fmt"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

func BenchmarkSense(b *testing.B) {
	d := theDetector()
	for _, x := range []struct{ path, text string }{
		{"a_test.go", "\tif got := Greet(\"ann\", 3); got != want.name {"},
		{"test_a.py", "    result = client.get('/users/3', headers=make(1))"},
		{"a.test.js", "    const result = await client.get('/users/3', {headers: make(1)});"},
		{"src/a.rs", "        let result = client.get(\"/users/3\").await.unwrap();"},
		{"src/test/ATest.java", "        Result result = client.get(\"/users/3\", make(1));"},
	} {
		b.Run(x.path, func(b *testing.B) {
			for range b.N {
				f := d.read(loop.FileChange{Path: x.path, Patch: "@@ -1 +1 @@\n+" + x.text + "\n"}, Tree{})
				_ = f
			}
		})
	}
}

func BenchmarkMany(b *testing.B) {
	var c loop.Change
	for i := range 5000 {
		c.Files = append(c.Files, loop.FileChange{
			Path: fmt.Sprintf("a%d_test.go", i), Status: loop.FileModified,
			Patch: "@@ -1,3 +1,3 @@\n" + strings.Repeat(" \tif got := Greet(\"ann\", 3); got != want.name {\n-\t\tt.Fatal(got)\n+\t\tt.Fatal(got, 1)\n \t}\n", 10),
		})
	}
	theDetector()
	b.ResetTimer()
	for range b.N {
		Inspect(c, Tree{})
	}
}
