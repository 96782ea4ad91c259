# frozen_string_literal: true

require "bundler"
require "fileutils"

module Mutations
  # A copy of the checkout with what was built from it, into which one mutant after the other is put.
  class Copy
    # The build of core's tests: clang's sanitizers see faults that change no result.
    CORE = system("clang", "--version", out: File::NULL, err: File::NULL) ? "asan" : "gcc"
    BUILT = [
      "lib/pelton/pelton.*", "tmp/*-*/pelton/#{RUBY_VERSION}/**/*", "tmp/core/#{CORE}/**/*", "Gemfile.lock",
      "gemfiles/*.lock", ".bundle/config"
    ].freeze
    GEMS = "tmp/{rails,web}" # that were installed for tests
    LENIENT = {core: "WERROR=", ruby: "ARCH_FLAG=-Wno-error"}.freeze # a mutant may leave a variable unused

    # Builds in the checkout what copies take along.
    def self.build(root) = Copy.new(root).core("programs") or raise "the tests of core do not compile"

    attr_reader :folder

    def initialize(folder)
      @folder = folder
    end

    # @param root [String] the checkout
    # @return [self]
    def update(root)
      FileUtils.rm_rf(folder)
      known = IO.popen(%w[git ls-files -z --cached --others --exclude-standard], chdir: root, &:read).split("\0")
      (known | Dir[*BUILT, base: root]).each do |path|
        from, to = File.join(root, path), path(path)
        next unless File.file?(from)
        FileUtils.mkdir_p(File.dirname(to))
        FileUtils.cp(from, to, preserve: true)
      end
      FileUtils.mkdir_p(path("tmp"))
      Dir[GEMS, base: root].each { |gems| FileUtils.ln_s(File.join(root, gems), path(gems)) }
      self
    end

    # Yields with the mutant in the copy.
    # @return [Object] what the block returns; :invalid if the mutant does not compile, :same if the same code comes out
    def with(mutant)
      source = path(mutant.path)
      text, times = File.binread(source), [File.atime(source), File.mtime(source)]
      File.binwrite(source, mutant.text)
      mutant.source.c? ? compiled(mutant.source) { yield } : parsed(mutant) { yield }
    ensure
      File.binwrite(source, text)
      File.utime(*times, source)
    end

    # Runs make for core's tests. @return [Boolean] whether it succeeds
    def core(*targets)
      system(environment, *core_command(*targets), chdir: folder, unsetenv_others: true, out: log, err: log)
    end

    # The tests must not take more memory than the machine has.
    def core_command(*targets)
      ["make", "--silent", "-C", "test/core", "BUILD=#{CORE}", LENIENT[:core],
        "ASAN_OPTIONS=exitcode=99:hard_rss_limit_mb=2048", *targets]
    end

    def ruby_command(*arguments) = [RbConfig.ruby, "-W0", "-rbundler/setup", "-Itest", *arguments]

    def environment
      Bundler.unbundled_env.merge("BUNDLE_GEMFILE" => path("Gemfile"), "BUNDLE_SILENCE_ROOT_WARNING" => "1")
    end

    def path(path) = File.join(folder, path)

    def log = [path("tmp/log"), "a"]

    private

    def parsed(mutant) = RubyChanges.parses?(mutant.text) ? yield : :invalid

    # The object and what is linked from it are put aside, and back: nothing else has to be compiled.
    def compiled(source)
      object = object(source)
      kept = [object, *(linked(source) unless source.core?)]
      kept.each { |file| FileUtils.cp(file, "#{file}.clean", preserve: true) }
      File.delete(object)
      return :invalid unless make(source, source.core? ? object : object.delete_prefix("#{extension}/"))
      return :same if code(object) == code("#{object}.clean")
      (source.core? || link) ? yield : :invalid
    ensure
      # A program of core would be newer than the object that is put back.
      linked(source).each { |file| FileUtils.rm_f(file) } if source.core?
      kept&.each { |file| FileUtils.mv("#{file}.clean", file) }
    end

    def object(source)
      folder = source.core? ? path("tmp/core/#{CORE}") : extension
      "#{folder}/#{source.path.delete_prefix("ext/pelton/").sub(/c\z/, "o")}"
    end

    def linked(source)
      return ["#{extension}/#{library}", path("lib/pelton/#{library}")] unless source.core?
      Dir[path("tmp/core/#{CORE}/*/test_*")].reject { |file| file.end_with?(".o", ".d", ".clean") }
    end

    def make(source, target)
      return core(target) if source.core?
      system("make", "--silent", LENIENT[:ruby], target, chdir: extension, out: log, err: log)
    end

    def link
      made = system("make", "--silent", LENIENT[:ruby], library, chdir: extension, out: log, err: log)
      FileUtils.cp("#{extension}/#{library}", path("lib/pelton/#{library}")) if made
      made
    end

    def extension = @extension ||= Dir[path("tmp/*-*/pelton/#{RUBY_VERSION}")].first

    def library = "pelton.#{RbConfig::CONFIG["DLEXT"]}"

    # Without debugging symbols.
    def code(object)
      system("objcopy", "--strip-debug", object, "#{object}.code", exception: true)
      File.binread("#{object}.code")
    end
  end
end
