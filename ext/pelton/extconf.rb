# frozen_string_literal: true

require "mkmf"

# Two source folders: core/ is plain C and never sees ruby.h; ruby/ is its Ruby face.
folders = %w[core ruby]
$srcs = folders.flat_map { |folder| Dir[File.join(__dir__, folder, "*.c")] }.map { |path| File.basename(path) }.sort
$VPATH.concat(folders.map { |folder| "$(srcdir)/#{folder}" })
$INCFLAGS << folders.map { |folder| " -I$(srcdir)/#{folder}" }.join

doubles = $srcs.tally.select { |_, count| count > 1 }.keys
abort "extconf.rb: the same name in core/ and ruby/ would be one object file: #{doubles.join(", ")}" if doubles.any?

append_cflags(%w[-std=gnu99 -O2 -Wall -Wno-unused-parameter -Wextra -fvisibility=hidden])
append_cflags("-Werror") if ENV["PELTON_WERROR"] == "1"

$defs << "-D_GNU_SOURCE"

have_header("sys/epoll.h")
have_header("sys/eventfd.h")
have_func("epoll_pwait2", "sys/epoll.h")
have_func("accept4", "sys/socket.h")

# mkmf knows only the headers beside extconf.rb: let the compiler write down which ones each object needs.
tracks = try_cflags("-MMD -MP")
$CFLAGS << " -MMD -MP" if tracks

create_makefile("pelton/pelton")
File.write("Makefile", "\n-include $(OBJS:.o=.d)\n", mode: "a") if tracks
