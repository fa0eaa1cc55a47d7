/*
 * What most of the kernel's objects include, as one precompiled header (kernel/headers/cc).
 * The first three are what kbuild has gcc include before a source.
 */
#include <linux/compiler-version.h>
#include <linux/kconfig.h>
#include <linux/compiler_types.h>

/* Each object has names of its own, which names.h puts in place of these. */
#define KBUILD_MODFILE "common"
#define KBUILD_BASENAME "common"
#define KBUILD_MODNAME "common"
#define __KBUILD_MODNAME kmod_common
#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/mm.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/fs.h>
#include <linux/blkdev.h>
#include <linux/bio.h>
#include <linux/slab.h>
#include <linux/writeback.h>
#include <linux/workqueue.h>
#include <linux/seq_file.h>
#undef KBUILD_MODFILE
#undef KBUILD_BASENAME
#undef KBUILD_MODNAME
#undef __KBUILD_MODNAME
