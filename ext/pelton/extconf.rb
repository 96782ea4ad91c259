# frozen_string_literal: true

require "mkmf"

# Two source folders: core/ is plain C and never sees ruby.h; ruby/ is its Ruby face.
folders = %w[core ruby]
$srcs = folders.flat_map { |folder| Dir[File.join(__dir__, folder, "*.c")] }.map { |path| File.basename(path) }.sort
$VPATH.concat(folders.map { |folder| "$(srcdir)/#{folder}" })
$INCFLAGS << folders.map { |folder| " -I$(srcdir)/#{folder}" }.join

append_cflags(%w[-std=gnu99 -O2 -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden])
append_cflags("-Werror") if ENV["PELTON_WERROR"]

have_header("sys/epoll.h")
have_header("sys/eventfd.h")

create_makefile("pelton/pelton")
