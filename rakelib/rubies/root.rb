# frozen_string_literal: true

require "digest"
require "fileutils"
require "open-uri"
require "open3"
require "shellwords"
require_relative "tree_copy"

# A Debian with another Ruby in a folder of tmp/rubies/. It is made once; then packages and gems are installed when
# their lists have changed. Commands run there in separate namespaces: the mounts and the processes go when the command
# ends.
class RubyRoot
  # Why a root cannot be made on this machine: a skip, not a failure.
  Missing = Class.new(StandardError)

  # Seconds without a new line in the log, after which a command is ended. The next run continues from there.
  LIMIT = 600
  INTERVAL = 20 # seconds between two lines of progress

  # Newest: Debian's newest Ruby, often in experimental long before it is in a release.
  SUITES = {"3.3" => %w[trixie], "newest" => %w[sid experimental]}.freeze
  PACKAGES = %w[
    ca-certificates g++ gcc git iproute2 libnghttp2-dev libssl-dev libyaml-dev make memcached netbase openssl pkgconf
    procps ruby-bundler tzdata zlib1g-dev
  ].freeze
  FOLDER = File.expand_path("../../tmp/rubies", __dir__)

  IN_NAMESPACES = %w[unshare --mount --pid --fork --kill-child].freeze
  # The shell stays, as the process that reaps orphans.
  ENTER = <<~SH
    mount --rbind /dev "$0/dev"
    mount -t proc proc "$0/proc"
    root=$0
    chroot "$root" "$@"
    exit $?
  SH
  ENVIRONMENT = {
    "PATH" => "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME" => "/root", "LANG" => "C.UTF-8", "TERM" => "dumb",
    "DEBIAN_FRONTEND" => "noninteractive", "SSL_CERT_FILE" => "/etc/ssl/certs/ca-certificates.crt",
    "BUNDLE_PATH" => "/gems", "BUNDLE_WITH" => "docs", "BUNDLE_WITHOUT" => "integration",
    "BUNDLE_SILENCE_ROOT_WARNING" => "1"
  }.freeze

  # For gems, which tests alone use: see test_gems in bin/setup.
  LITTLE_OPTIMIZATION = %w[env MAKEFLAGS=ARCH_FLAG=-O1].freeze

  # @yieldparam line [String] what begins now, if it takes long
  def initialize(name, &progress)
    @suite, @also = SUITES.fetch(name) do
      raise ArgumentError, "no root is called #{name} (there are #{SUITES.keys.join(" and ")})"
    end
    @name, @progress = name, progress
    @path, @log = File.join(FOLDER, name), File.join(FOLDER, "#{name}.log")
  end

  # Brings the root up to date.
  #
  # @param rails [Array<String>] versions of Rails whose gems to install, too
  def prepare(rails: [])
    raise Missing, "root is needed" unless Process.uid.zero?
    missing = ["unshare", *("debootstrap" unless File.directory?(@path))].reject { |tool| which(tool) }
    raise Missing, "#{missing.join(" and ")} is needed: bin/setup rubies" unless missing.empty?
    unless system(*IN_NAMESPACES, "mount", "-t", "proc", "proc", "/proc", %i[out err] => File::NULL)
      raise Missing, "mounting is not allowed"
    end
    FileUtils.mkdir_p(FOLDER)
    bootstrap unless File.directory?(@path)
    copy_system_files
    stamped("packages", [*PACKAGES, *@also]) { fetching("installing packages (a minute or more)") { install_packages } }
    TreeCopy.new(File.join(@path, "pelton"), File.join(@path, "var/lib/pelton-files")).update
    stamped("gems", contents("{Gemfile,*.gemspec,*/*.gemspec,lib/pelton/version.rb}")) do
      fetching("installing gems (a minute or more)") { inside(*LITTLE_OPTIMIZATION, "bundle", "install", "--quiet") }
    end
    rails.each { |version| install_rails(version) }
    @progress.call("compiling")
    inside("bundle", "exec", "rake", "--silent", "compile")
  end

  # Becomes a command that runs in the root, in the copy of the tree.
  def exec(*command)
    Kernel.exec(*enter(command))
  end

  private

  def which(tool) = ENV["PATH"].split(":").any? { |folder| File.executable?(File.join(folder, tool)) }

  def enter(command)
    settings = ENVIRONMENT.merge(ENV.slice("CHECKED", "PELTON_BACKEND", "TESTOPTS"))
      .map { |name, value| "#{name}=#{value}" }
    line = "cd /pelton 2>/dev/null || cd /; exec #{command.shelljoin}"
    [*IN_NAMESPACES, "sh", "-e", "-c", ENTER, @path, "/usr/bin/env", "-i", *settings, "sh", "-c", line]
  end

  def inside(*command) = run(*enter(command))

  # Runs a command whose output goes to the log, and its end to the error when it fails.
  def run(*command)
    pid = spawn(*command, :in => File::NULL, %i[out err] => [@log, "a"])
    return if wait_for(pid).success?
    raise "#{@name}: failed, the end of #{@log} is\n#{File.readlines(@log).last(20).join}"
  end

  # Waits for a process while the log grows, and tells now and then its last line.
  def wait_for(pid)
    size, quiet = 0, 0
    (1..).each do |second|
      return $? if Process.wait(pid, Process::WNOHANG)
      sleep 1 # not the time is counted: a machine that was asleep has made no progress either
      quiet = (size == (size = File.size(@log))) ? quiet + 1 : 0
      raise Missing, "making the root: no progress for #{LIMIT} s" if quiet == LIMIT
      if second % INTERVAL == 0 && quiet < INTERVAL
        @progress.call("... #{File.readlines(@log).last.to_s.strip[0, 100]}")
      end
    end
  ensure
    # And with it all processes of its namespace: IN_NAMESPACES says --kill-child
    Process.kill(:KILL, pid) unless $?&.pid == pid
  end

  # A step that a network or a mirror can make fail.
  def fetching(what)
    @progress.call(what)
    yield
  rescue RuntimeError => problem
    raise Missing, "#{what}: #{problem.message}"
  end

  # Calls the block when it was not called yet for these contents.
  def stamped(subject, contents)
    stamp, wanted = File.join(@path, "var", "lib", "pelton-#{subject}"), Digest::SHA256.hexdigest(contents.join("\n"))
    return if File.exist?(stamp) && File.read(stamp) == wanted
    yield
    File.write(stamp, wanted)
  end

  # The address that apt itself uses on this machine for Debian's packages.
  def mirror
    release = File.read("/etc/os-release")[/^VERSION_CODENAME=(\w+)/, 1]
    list, = Open3.capture2("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(CODENAME)",
      "Created-By: Packages")
    uri = list.lines.map(&:split).find { |_, *names| names.include?(release) }&.first or raise Missing,
      "apt knows no mirror of Debian"
    [@suite, *@also].each do |suite|
      URI.parse("#{uri}dists/#{suite}/InRelease").open(open_timeout: 20, read_timeout: 60) { |io| io.read(100) }
    end
    uri
  rescue SystemCallError, SocketError, OpenURI::HTTPError, Timeout::Error => problem
    raise Missing, "no network, or the mirror lacks #{@suite}: #{problem.message}"
  end

  def bootstrap
    uri, unfinished = mirror, "#{@path}.unfinished"
    FileUtils.rm_rf(unfinished)
    fetching("making a root of Debian #{@suite} (a minute or more; #{@log})") do
      run(*IN_NAMESPACES, "debootstrap", "--variant=minbase", @suite, unfinished, uri)
    end
    File.write(File.join(unfinished, "etc/apt/sources.list"),
      [@suite, *@also].map { |suite| "deb #{uri} #{suite} main\n" }.join)
    File.write(File.join(unfinished, "usr/sbin/policy-rc.d"), "#!/bin/sh\nexit 101\n", perm: 0o755) # no service starts
    File.rename(unfinished, @path)
  end

  # The network's settings, apt's own ones included, and the certificates that are trusted here.
  def copy_system_files
    settings, = Open3.capture2("apt-config", "dump", "Acquire")
    File.write(File.join(@path, "etc/apt/apt.conf.d/90machine"),
      settings.lines.grep(/\AAcquire::(Check|Retries|http)/).join)
    %w[/etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt]
      .select { |file| File.exist?(file) }.each do |file|
      copy = File.join(@path, file)
      FileUtils.mkdir_p(File.dirname(copy))
      FileUtils.rm_f(copy) # it may be a link
      FileUtils.cp(File.realpath(file), copy)
    end
  end

  def install_packages
    inside("apt-get", "update", "--quiet")
    list, = Open3.capture2(*enter(%w[apt-cache pkgnames ruby]))
    ruby = list.split.grep(/\Aruby\d[\d.]*\z/).max_by { |name| Gem::Version.new(name.delete_prefix("ruby")) }
    inside("apt-get", "install", "--yes", "--quiet", "--no-install-recommends",
      *@also&.then { |suite| ["--target-release", suite] }, ruby, "#{ruby}-dev")
    inside("apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *PACKAGES)
    inside("apt-get", "clean")
    copy_system_files # the packages have written their own
    # Debian's own choice of a Ruby may be an older one.
    %w[ruby gem].each { |tool| inside("ln", "-sf", "#{tool}#{ruby.delete_prefix("ruby")}", "/usr/bin/#{tool}") }
  end

  # Where `bin/setup downstream` has them as well.
  def install_rails(version)
    name = "rails_#{version.tr(".", "_")}"
    stamped(name, contents("{gemfiles/#{name}.rb,gemfiles/*_gems.rb,*.gemspec,*/*.gemspec,lib/pelton/version.rb}")) do
      fetching("installing Rails #{version} (a minute or more)") do
        inside(*LITTLE_OPTIMIZATION, "BUNDLE_GEMFILE=/pelton/gemfiles/#{name}.rb", "BUNDLE_PATH=/pelton/tmp/rails",
          "bundle", "install", "--quiet")
      end
    end
  end

  def contents(pattern)
    Dir[pattern, base: TreeCopy::TREE].sort.map { |file| File.read(File.join(TreeCopy::TREE, file)) }
  end
end
