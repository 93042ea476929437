package proc

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

const maxNamed = 32

// A jobObject holds a process with all its descendants. They are killed when the last
// handle to it closes, at the latest when this process ends.
type jobObject windows.Handle

func newJobObject() (jobObject, error) {
	h, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(h, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(h)
		return 0, err
	}
	return jobObject(h), nil
}

// adopt puts a process that was started suspended into the job and lets it run.
func (j jobObject) adopt(p *os.Process) error {
	var assigned error
	if err := p.WithHandle(func(h uintptr) {
		assigned = windows.AssignProcessToJobObject(windows.Handle(j), windows.Handle(h))
	}); err != nil {
		return err
	}
	if assigned != nil {
		return fmt.Errorf("put it into a job object: %w", assigned)
	}
	return resume(uint32(p.Pid))
}

// resume resumes the threads of a process that was started suspended.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("open its thread: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		if err != nil {
			return fmt.Errorf("resume its thread: %w", err)
		}
	}
	return nil
}

func (j jobObject) terminate() { _ = windows.TerminateJobObject(windows.Handle(j), 1) }
func (j jobObject) close()     { _ = windows.CloseHandle(windows.Handle(j)) }

// members returns the running processes, 32 at most.
func (j jobObject) members() []Process {
	// JOBOBJECT_BASIC_PROCESS_ID_LIST
	var list struct {
		assigned, listed uint32
		ids              [maxNamed]uintptr
	}
	// If the list is too short, the call fills it and returns an error.
	_ = windows.QueryInformationJobObject(windows.Handle(j), windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	var all []Process
	for _, id := range list.ids[:min(list.listed, maxNamed)] {
		all = append(all, Process{PID: int(id), Command: printable(programOf(uint32(id)))})
	}
	return all
}

// programOf returns the path of the program that a process runs.
func programOf(pid uint32) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return "?"
	}
	defer func() { _ = windows.CloseHandle(h) }()
	buf := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(buf))
	if err := windows.QueryFullProcessImageName(h, 0, &buf[0], &size); err != nil {
		return "?"
	}
	return windows.UTF16ToString(buf[:size])
}
