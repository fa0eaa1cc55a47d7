/*
 * A guest's program that looks at the clock by its vDSO and by system calls, and one
 * that writes into the page of its clock (kernel/patches/vdso.patch).
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* struct stub_clock of the patches */
struct page {
	volatile unsigned long state, limit, base, spun, busy, zero[5];
};

static struct page *page(void)
{
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);

	return *(struct page **)(vdso + 4096 - sizeof(unsigned long));
}

static long ns(struct timespec t)
{
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static long by_call(clockid_t clock)
{
	struct timespec t;

	syscall(SYS_clock_gettime, clock, &t);
	return ns(t);
}

static long by_vdso(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return ns(t);
}

/* Virtual time that so many looks take, after some other system call. */
static long elapsed(long (*look)(clockid_t), int looks)
{
	long begin, now, last;

	syscall(SYS_getppid);
	begin = last = by_call(CLOCK_MONOTONIC);
	for (int i = 0; i < looks; i++) {
		now = look(CLOCK_MONOTONIC);
		if (now <= last)
			printf("backwards=%ld\n", last - now);
		last = now;
	}
	return by_call(CLOCK_MONOTONIC) - begin;
}

/* The same by the one and by the other, in two guests. */
static void measure(long (*look)(clockid_t))
{
	static const int looks[] = { 1, 5, 17, 18, 100, 1000, 20000, 100000 };

	for (int i = 0; i < 8; i++)
		printf("looks%d=%ld\n", looks[i], elapsed(look, looks[i]));
	printf("now=%ld\n", by_call(CLOCK_REALTIME));
}

static void compare(void)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME,
		CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME, CLOCK_TAI };
	struct timeval tv;
	long before;

	for (int i = 0; i < 5; i++) {
		syscall(SYS_getppid);
		before = by_call(clocks[i]);
		long vdso = by_vdso(clocks[i]);
		long after = by_call(clocks[i]);

		printf("clock%d=%ld,%ld\n", i, vdso - before, after - vdso);
	}
	before = by_call(CLOCK_REALTIME);
	gettimeofday(&tv, NULL);
	printf("timeofday=%ld\n",
	       tv.tv_sec * 1000000 + tv.tv_usec - (before + 16) / 1000);
	/* what the program writes is what it sees, if it makes the looks itself */
	before = by_vdso(CLOCK_MONOTONIC);
	page()->zero[0] += 1000000000000;
	printf("itself=%d\n", by_vdso(CLOCK_MONOTONIC) - before > 1000000000000 - 1000000);
	printf("kernel=%d\n", by_call(CLOCK_MONOTONIC) - before < 1000000);
}

/* Looks between other system calls: after an idle moment, and until 20 ms have passed. */
static void between(void)
{
	long begin, looks = 0;

	usleep(1000);
	begin = by_vdso(CLOCK_MONOTONIC);
	for (int i = 0; i < 1000; i++) {
		syscall(SYS_getppid);
		by_vdso(CLOCK_MONOTONIC);
	}
	printf("work=%ld\n", by_vdso(CLOCK_MONOTONIC) - begin);
	begin = by_vdso(CLOCK_MONOTONIC);
	while (by_vdso(CLOCK_MONOTONIC) - begin < 20000000) {
		syscall(SYS_getppid);
		looks++;
	}
	printf("polls=%ld\n", looks);
}

static volatile long alarm_at;

static void on_alarm(int sig)
{
	(void)sig;
	alarm_at = by_call(CLOCK_MONOTONIC);
}

static void attack(void)
{
	const struct itimerval timer = { .it_value = { .tv_usec = 3000 } };
	unsigned long x = 88172645463325252;
	unsigned long words = sizeof(struct page) / sizeof(long);
	long begin, last, now, most = 0, looks = 0;

	signal(SIGALRM, on_alarm);
	begin = last = by_call(CLOCK_MONOTONIC);
	setitimer(ITIMER_REAL, &timer, NULL);
	while (!alarm_at) {
		for (unsigned long i = 0; i < words; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			/* of all kinds: nothing, everything, small, any */
			((volatile unsigned long *)page())[i] =
				looks % 4 == 0 ? 0 : looks % 4 == 1 ? ~0UL :
				looks % 4 == 2 ? x % 100000 : x;
		}
		by_vdso(CLOCK_MONOTONIC);
		now = by_call(CLOCK_MONOTONIC);
		if (now <= last)
			printf("backwards=%ld\n", last - now);
		if (now - last > most)
			most = now - last;
		last = now;
		looks++;
	}
	printf("most=%ld\nalarm=%ld\n", most, alarm_at - begin);
}

int main(int count, char **arguments)
{
	switch (count > 1 ? arguments[1][0] : 0) {
	case 'v':
		measure(by_vdso);
		return 0;
	case 's':
		measure(by_call);
		return 0;
	case 'c':
		compare();
		return 0;
	case 'b':
		between();
		return 0;
	case 'a':
		attack();
		return 0;
	}
	return 2;
}
