#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Installs a build folder into a scratch one and uses what lies there as a
# stranger would: programs in C and C++ compiled with what pkg-config says, the
# plugin loaded or linked statically, the Python module.
# Arguments: the build folder, a film, Meson, Python (may be missing).
set -eu
build=$1 film=$2 meson=$3 python=${4:-}
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cc=${CC:-cc} cxx=${CXX:-c++}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
find_one() { find "$scratch/root" -name "$1" | head -n 1; }

DESTDIR=$scratch/root "$meson" install -C "$build" --no-rebuild --quiet
pc=$(find_one gstcudapreproc-1.0.pc)
[ -n "$pc" ] || fail "no gstcudapreproc-1.0.pc was installed"
# A folder that was moved: DESTDIR is not in what is written into the file.
sed -i "s|^prefix=|prefix=$scratch/root|" "$pc"
PKG_CONFIG_PATH=$(dirname "$pc")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
GST_REGISTRY=$scratch/registry
export PKG_CONFIG_PATH GST_REGISTRY
unset GST_PLUGIN_PATH GST_PLUGIN_PATH_1_0

plugin=$(find_one libgstcudapreproc.so)
if [ -n "$plugin" ]; then
  # Whoever only includes the header links GStreamer alone.
  pkg-config --libs gstcudapreproc-1.0 | grep -q libgstcudapreproc &&
    fail "pkg-config --libs names the plugin"
  $cc -std=c11 -Wall -Wextra -Werror -o "$scratch/boxes" \
    "$here/../examples/boxes.c" \
    $(pkg-config --cflags --libs gstcudapreproc-1.0 gstreamer-app-1.0)
  GST_PLUGIN_PATH=$(dirname "$plugin") "$scratch/boxes" "$film" \
    >"$scratch/boxes.txt"
  [ "$(wc -l <"$scratch/boxes.txt")" -gt 1 ] || fail "boxes printed nothing"
  head -n 1 "$scratch/boxes.txt"
  if command -v "$cxx" >/dev/null; then
    echo '#include <gst/cudapreproc/cudapreproc.h>' >"$scratch/header.cc"
    $cxx -Wall -Wextra -Werror -fsyntax-only "$scratch/header.cc" \
      $(pkg-config --cflags gstcudapreproc-1.0)
  fi
fi

if [ -n "$(find_one libgstcudapreproc.a)" ]; then
  # shellcheck disable=SC2046
  $cc -std=c11 -Wall -Wextra -Werror -o "$scratch/static" \
    "$here/../examples/static.c" \
    $(pkg-config --static --cflags --libs gstcudapreproc-1.0)
  GST_PLUGIN_SYSTEM_PATH_1_0=$(pkg-config --variable=pluginsdir gstreamer-1.0) \
    "$scratch/static"
  ldd "$scratch/static" | grep -q libgstcudapreproc &&
    fail "the plugin was not linked statically"
fi
# The same header before anything is installed, with what devenv sets.
PKG_CONFIG_PATH=$build/meson-uninstalled \
  sh -c "$cc -Wall -Wextra -Werror -fsyntax-only '$here/../examples/boxes.c' \
    \$(pkg-config --cflags gstcudapreproc-1.0 gstreamer-app-1.0)" ||
  fail "the header was not found before the installation"
[ -n "$plugin$(find_one libgstcudapreproc.a)" ] || fail "no plugin installed"

if [ -n "$python" ]; then
  module=$(find_one cudapreproc.py)
  [ -n "$module" ] || fail "no cudapreproc.py was installed"
  PYTHONPATH=$(dirname "$module") "$python" -c 'import cudapreproc'
fi
echo installed
