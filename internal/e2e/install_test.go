package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// installed returns the directory of an agent's installation.
func installed(c cli) string {
	root := os.Getenv(cacheVar)
	if root == "" {
		root, _ = os.UserCacheDir() // install has checked that there is one
		root = filepath.Join(root, "codeloops-e2e")
	}
	return filepath.Join(root, c.name+"-"+c.version)
}

// install installs missing agents, two at a time: most of the time is spent unpacking.
func install(all []cli) error {
	if _, err := os.UserCacheDir(); err != nil && os.Getenv(cacheVar) == "" {
		return fmt.Errorf("find a place for the agents, which %s can name: %w", cacheVar, err)
	}
	var (
		wait sync.WaitGroup
		mu   sync.Mutex
		errs error
	)
	places := make(chan struct{}, 2)
	for _, c := range all {
		if c.isInstalled() {
			continue
		}
		wait.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			began := time.Now()
			err := c.install()
			if err == nil {
				fmt.Printf("installed %s@%s in %.0f s\n", c.pkg, c.version, time.Since(began).Seconds())
			}
			mu.Lock()
			defer mu.Unlock()
			errs = errors.Join(errs, err)
		})
	}
	wait.Wait()
	return errs
}

func (c cli) isInstalled() bool {
	_, err := os.Stat(c.program())
	if err == nil && c.node != "" {
		_, err = os.Stat(c.runtime())
	}
	return err == nil
}

// install installs an agent into its own directory, completely or not at all.
func (c cli) install() error {
	dir := installed(c)
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return fmt.Errorf("install %s: %w", c.name, err)
	}
	half, err := os.MkdirTemp(filepath.Dir(dir), "half-")
	if err != nil {
		return fmt.Errorf("install %s: %w", c.name, err)
	}
	defer os.RemoveAll(half)
	cmd := exec.Command("npm", "install", "--prefix", half, "--no-audit", "--no-fund", "--no-package-lock",
		"--fetch-retries", "6", "--loglevel", "error", c.pkg+"@"+c.version)
	if c.node != "" {
		cmd.Args = append(cmd.Args, "node@"+c.node)
	}
	cmd.Dir = half
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install %s: %w\n%s", c.name, err, out)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("install %s: %w", c.name, err)
	}
	return os.Rename(half, dir)
}
