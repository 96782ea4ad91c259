# frozen_string_literal: true

require "fileutils"
require "mkmf"

# core/ is plain C and never includes ruby.h; ruby/ is its Ruby face. Each include names its file from this folder:
# "core/loop/timer.h". Objects lie in folders as their sources do.
sources = Dir["{core,ruby}/**/*.c", base: __dir__].sort
$srcs = sources
$objs = sources.map { |source| source.sub(/c\z/, $OBJEXT) }
folders = sources.map { |source| File.dirname(source) }.uniq
FileUtils.mkdir_p(folders)
$cleanfiles.concat(folders.map { |folder| "#{folder}/*.#{$OBJEXT}" })

# The macro is not in $defs, because the checks below do not see those. The checks come before the warning flags,
# because mkmf's test programs would fail with -Werror. test/core/Makefile makes the same checks for core's tests.
$CPPFLAGS << " -D_GNU_SOURCE"
# PELTON_POSIX=1 leaves out what not every system has, so that the other ways can be tested here.
unless ENV["PELTON_POSIX"] == "1"
  %w[sys/epoll.h sys/eventfd.h sys/inotify.h sys/sendfile.h linux/openat2.h].each { |header| have_header(header) }
  {
    "epoll_pwait2" => "sys/epoll.h", "kqueue" => "sys/event.h", "ppoll" => "poll.h", "accept4" => "sys/socket.h",
    "splice" => "fcntl.h", "pthread_condattr_setclock" => "pthread.h",
    "malloc_trim" => "malloc.h"
  }.each { |function, header| have_func(function, header) }
  have_const("SYS_pidfd_open", "sys/syscall.h")
end
have_func("rb_io_timeout", "ruby/io.h")
have_func("rb_fiber_new_storage")
have_func("rb_internal_thread_add_event_hook", "ruby/thread.h")
have_func("rb_postponed_job_preregister", "ruby/debug.h")
# TLS is optional: without OpenSSL 1.1.1 or later, start_tls raises an error that names it.
have_library("crypto", "X509_new", "openssl/x509.h") &&
  have_library("ssl", "SSL_CTX_set_num_tickets", "openssl/ssl.h") &&
  have_header("openssl/ssl.h") ||
  message("Pelton is built without TLS: OpenSSL's headers are missing. Install them (Debian: libssl-dev) and the gem " \
    "again to have it.\n")

# HTTP/2 is optional as well: without libnghttp2 server and client speak HTTP/1.1 alone, and Pelton::HTTP.http2? says
# so.
have_library("nghttp2", "nghttp2_session_server_new2", "nghttp2/nghttp2.h") && have_header("nghttp2/nghttp2.h") ||
  message("Pelton is built without HTTP/2: libnghttp2's headers are missing. Install them (Debian: libnghttp2-dev) " \
    "and the gem again to have it.\n")

append_cflags(%w[-std=gnu99 -O2 -Wall -Wno-unused-parameter -Wextra -fvisibility=hidden])
append_cflags("-Werror") if ENV["PELTON_WERROR"] == "1"
# For bin/test: state tables are asserted, and freed records are overwritten, which costs a timer 2 %.
$CPPFLAGS << " -DPELTON_CHECKED" if ENV["CHECKED"] == "1"

# mkmf knows only the headers in extconf.rb's folder: so the compiler writes down the headers that each object depends
# on.
tracks = try_cflags("-MMD -MP")
$CFLAGS << " -MMD -MP" if tracks

create_makefile("pelton/pelton")
File.open("Makefile", "a") do |makefile|
  makefile.puts "", "$(OBJS): Makefile" # compile again when the flags change
  makefile.puts "-include $(OBJS:.o=.d)" if tracks
end
