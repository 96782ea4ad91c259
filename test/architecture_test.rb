# frozen_string_literal: true

require "open3"
require_relative "test_helper"

# The arrows between the rooms, and the places of which there is only one (docs/architecture.md).
class ArchitectureTest < PeltonTest
  # A room and the other rooms that it may load. All may load the runtime, which is lib/pelton.rb and lib/pelton/*.rb but
  # the rooms' own entries.
  ROOMS = {
    "memcached" => %w[],
    "http" => %w[],
    "eventmachine" => %w[memcached http],
    "cluster" => %w[],
    "lab" => %w[memcached http eventmachine cluster],
    "command" => %w[memcached http eventmachine cluster lab] # the command line: lib/pelton/command.rb
  }.freeze

  # Files of lib/ without a test of their own name, and why.
  UNTESTED = {
    "lib/pelton.rb" => "requires the runtime's files, which have theirs",
    "lib/pelton/cluster.rb" => "requires the room's files, which have theirs",
    "lib/pelton/version.rb" => "one constant"
  }.freeze

  # What occurs in one C file only.
  ALONE = {
    /\brb_(protect|jump_tag)\b/ => "ext/pelton/ruby/protect.c",
    /\brb_(nogvl|thread_call_with(out)?_gvl)\b/ => "ext/pelton/ruby/gvl.c"
  }.freeze

  def test_each_room_loads_alone_and_loads_only_what_it_may
    features = rooms_present.to_h { |room| [room, (room == "lab") ? "pelton/lab/command" : "pelton/#{room}"] }
    rooms_loaded_by(*features.values).zip(features.keys) do |loaded, room|
      assert_includes loaded, room
      assert_empty loaded - [room] - ROOMS.fetch(room), "loaded by #{room}"
    end
  end

  def test_the_runtime_loads_no_room
    assert_equal [[]], rooms_loaded_by("pelton")
  end

  # Also what is required later, inside a method, is seen here.
  def test_no_file_requires_a_room_that_its_own_may_not_use
    ruby_files.each do |file|
      room = room_of(file)
      used = required_by(file).filter_map { |required| room_of(required) }.uniq - [room]

      assert_empty used - ROOMS.fetch(room, []), "required by #{file}"
    end
  end

  # test/core compiles its sources, and each header alone, without Ruby.
  def test_core_includes_nothing_of_ruby
    core = root_files("ext/pelton/core/*.{c,h}")

    refute_empty core
    core.each { |file| refute_match(/#\s*include\s*["<](\.\.|ruby)/, read(file), file) }
  end

  def test_what_is_delicate_has_one_place
    ALONE.each do |pattern, place|
      assert_empty c_files.select { |file| code(file).match?(pattern) } - [place], "only #{place} may hold #{pattern.source}"
    end
  end

  def test_socket_options_are_set_in_one_file
    assert_operator c_files.count { |file| code(file).match?(/\bsetsockopt\b/) }, :<=, 1
  end

  def test_the_extension_exports_its_init_function_alone
    output, = Open3.capture2("nm", "--dynamic", "--defined-only", root_files("lib/pelton/pelton.so").fetch(0), chdir: ROOT)

    assert_equal ["Init_pelton"], output.lines.map { |line| line.split.last }.grep_v(/\A(_init|_fini|_edata|_end|__bss_start)\z/)
  end

  def test_no_file_is_long
    long = (ruby_files + c_files).to_h { |file| [file, read(file).count("\n")] }.select { |_, lines| lines > 400 }

    assert_empty long
  end

  def test_each_ruby_file_has_a_test_of_its_name
    missing = (ruby_files - UNTESTED.keys).reject do |file|
      File.exist?(File.join(ROOT, file.sub(%r{\Alib/(pelton/)?}, "test/").sub(/\.rb\z/, "_test.rb")))
    end

    assert_empty missing
    assert_empty UNTESTED.keys - ruby_files, "UNTESTED names files that are gone"
  end

  def test_each_source_of_core_has_a_test_of_its_name
    missing = root_files("ext/pelton/core/*.c").reject do |file|
      File.exist?(File.join(ROOT, "test/core/test_#{File.basename(file)}"))
    end

    assert_empty missing
  end

  private

  def root_files(pattern) = Dir[pattern, base: ROOT].sort

  def ruby_files = root_files("lib/**/*.rb")

  def c_files = root_files("ext/**/*.{c,h}")

  def read(file) = File.read(File.join(ROOT, file))

  def code(file) = read(file).gsub(%r{/\*.*?\*/|//.*$}m, "")

  def rooms_present
    ruby_files.filter_map { |file| room_of(file) }.uniq
  end

  # "lib/pelton/memcached/client.rb", "pelton/memcached" => "memcached"; nil for the runtime. What rackup requires is http's.
  def room_of(file)
    return "http" if file.delete_prefix("lib/").start_with?("rackup/")
    name = file.delete_prefix("lib/")[%r{\Apelton/(\w+)}, 1]
    name if ROOMS.key?(name)
  end

  # The rooms that each feature loads, by itself.
  def rooms_loaded_by(*features)
    output = ruby_output(<<~RUBY, Children::LIB, *features, gems: true)
      lib = ARGV.shift + "/"
      ARGV.each do |feature|
        loading = fork do
          require feature
          puts $LOADED_FEATURES.filter_map { |path| path.delete_prefix(lib) if path.start_with?(lib) }.join(" ")
        end
        Process.wait(loading)
        abort unless $?.success?
      end
    RUBY

    output.lines.map do |line|
      refute_empty line.split
      line.split.filter_map { |path| room_of(path) }.uniq
    end
  end

  # The files, relative to lib/, that a file of Pelton requires or autoloads.
  def required_by(file)
    read(file).scan(/\b(require|require_relative|autoload)\b[ (]+(?::\w+, *)?"([^"]+)"/).map do |verb, path|
      (verb == "require_relative") ? File.expand_path(path, "/#{File.dirname(file)}").delete_prefix("/lib/") : path
    end
  end
end
