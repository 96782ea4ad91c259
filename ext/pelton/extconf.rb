# frozen_string_literal: true

require "mkmf"

# Two source folders: core/ is plain C and never sees ruby.h; ruby/ is its Ruby face.
folders = %w[core ruby]
$srcs = folders.flat_map { |folder| Dir[File.join(__dir__, folder, "*.c")] }.map { |path| File.basename(path) }.sort
$VPATH.concat(folders.map { |folder| "$(srcdir)/#{folder}" })
$INCFLAGS << folders.map { |folder| " -I$(srcdir)/#{folder}" }.join

doubles = $srcs.tally.select { |_, count| count > 1 }.keys
abort "extconf.rb: the same name in core/ and ruby/ would be one object file: #{doubles.join(", ")}" if doubles.any?

# Not in $defs, which the checks do not see. The checks come before the warnings, which mkmf's test programs do not survive
# as errors. test/core/Makefile makes the same checks for core's tests.
$CPPFLAGS << " -D_GNU_SOURCE"
have_header("sys/epoll.h")
have_header("sys/eventfd.h")
have_func("epoll_pwait2", "sys/epoll.h")
have_func("accept4", "sys/socket.h")
have_func("rb_io_timeout", "ruby/io.h")
# TLS is optional: without OpenSSL 1.1.1 or later start_tls says that it is missing.
have_library("crypto", "X509_new", "openssl/x509.h") && have_library("ssl", "SSL_CTX_set_num_tickets", "openssl/ssl.h") &&
  have_header("openssl/ssl.h")

append_cflags(%w[-std=gnu99 -O2 -Wall -Wno-unused-parameter -Wextra -fvisibility=hidden])
append_cflags("-Werror") if ENV["PELTON_WERROR"] == "1"

# mkmf knows only the headers beside extconf.rb: let the compiler write down which ones each object needs.
tracks = try_cflags("-MMD -MP")
$CFLAGS << " -MMD -MP" if tracks

create_makefile("pelton/pelton")
File.open("Makefile", "a") do |makefile|
  makefile.puts "", "$(OBJS): Makefile" # other flags make other objects
  makefile.puts "-include $(OBJS:.o=.d)" if tracks
end
