/*
 * The names that kbuild gives an object, after the precompiled header: gcc takes none if a macro
 * that it mentions has another value on the command line, so that cc defines others there.
 */
#define KBUILD_MODFILE OBJECT_KBUILD_MODFILE
#define KBUILD_BASENAME OBJECT_KBUILD_BASENAME
#define KBUILD_MODNAME OBJECT_KBUILD_MODNAME
#define __KBUILD_MODNAME OBJECT___KBUILD_MODNAME
