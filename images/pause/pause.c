// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// pause is the first process of every pod sandbox. It holds the pod's
// namespaces, reaps processes that their parents left behind, and exits on
// SIGTERM or SIGINT. It uses no libc, so that it costs a node a few pages only.
//
// The three signals are blocked and then waited for: a blocked signal is queued
// even for the init process of a PID namespace, which otherwise ignores signals
// that it has no handler for.

#include <asm/unistd.h>
#include <linux/signal.h>

#define WNOHANG 1

static long syscall4(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	long result;
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#else
#error "pause: add the system call convention of this architecture"
#endif
}

static unsigned long bit(int signal) { return 1UL << (signal - 1); }

static void reap(void) {
	while (syscall4(__NR_wait4, -1, 0, WNOHANG, 0) > 0)
		;
}

__attribute__((noreturn)) void _start(void) {
	unsigned long set = bit(SIGTERM) | bit(SIGINT) | bit(SIGCHLD);

	syscall4(__NR_rt_sigprocmask, SIG_BLOCK, (long)&set, 0, sizeof(set));
	for (;;) {
		long signal = syscall4(__NR_rt_sigtimedwait, (long)&set, 0, 0, sizeof(set));

		if (signal == SIGCHLD)
			reap();
		else if (signal > 0)
			for (;;)
				syscall4(__NR_exit_group, 0, 0, 0, 0);
	}
}
