# frozen_string_literal: true

require "open3"
require "tsort"
require_relative "../test_helper"

# The arrows between the rooms of the extension, and the calls that only one file may make
# (docs/internals/architecture.md).
class CArchitectureTest < PeltonTest
  # A room and the rooms whose headers it may include beside its own.
  CORE = {
    "core/base" => %w[],
    "core/loop" => %w[base],
    "core/stream" => %w[base loop],
    "core/tls" => %w[base loop stream],
    "core/http1" => %w[base],
    "core/http2" => %w[base stream http1],
    "core/files" => %w[base http1],
    "core/gzip" => %w[base],
    "core/memcached" => %w[base],
    "core/store" => %w[base],
    "core/memcached_server" => %w[base loop stream memcached store]
  }.transform_values { |rooms| rooms.map { |room| "core/#{room}" } }.freeze

  RUBY = {
    "ruby/base" => %w[core/base core/loop],
    "ruby/reactor" => %w[core/base core/loop core/stream ruby/base],
    "ruby/operation" => %w[core/base ruby/base ruby/reactor],
    "ruby/scheduler" => %w[ruby/base ruby/reactor],
    "ruby/stream" => %w[core/base core/stream ruby/base ruby/reactor ruby/operation],
    "ruby/tls" => %w[core/tls ruby/base ruby/reactor ruby/stream],
    "ruby/http/connection" => %w[core/base core/stream core/http1 core/files core/http2 core/store ruby/base
      ruby/reactor ruby/operation ruby/stream],
    "ruby/http/response" => %w[core/base core/stream core/http1 core/files core/store ruby/base ruby/reactor ruby/stream
      ruby/http/connection],
    "ruby/http/request" => %w[core/base core/stream core/http1 ruby/base ruby/reactor ruby/operation ruby/stream
      ruby/http/connection ruby/http/response],
    "ruby/http/http2" => %w[core/base core/http2 ruby/http/connection ruby/http/response ruby/http/request],
    "ruby/http/client" => %w[core/base core/http1 core/http2 ruby/base ruby/reactor],
    "ruby/http/page" => %w[core/base core/gzip ruby/base ruby/http/connection],
    "ruby/http" => %w[core/base core/http1 core/files ruby/base ruby/reactor ruby/stream ruby/http/connection
      ruby/http/response ruby/http/request ruby/http/http2 ruby/http/client ruby/http/page],
    "ruby/memcached" => %w[core/base core/loop core/stream core/memcached core/memcached_server ruby/base ruby/reactor
      ruby/operation ruby/stream],
    # init.c
    "ruby" => %w[ruby/base ruby/reactor ruby/operation ruby/scheduler ruby/stream ruby/tls ruby/http ruby/memcached]
  }.freeze

  ROOMS = CORE.merge(RUBY).freeze

  # Calls that one C file alone may make.
  ALONE = {
    /\brb_(protect|jump_tag)\b/ => "ruby/base/protect.c",
    /\brb_(nogvl|thread_call_with(out)?_gvl)\b/ => "ruby/base/gvl.c",
    /\bsetsockopt\b/ => "core/stream/socket.c",
    /\bconnection->state = / => "ruby/http/connection/http_state.h"
  }.freeze

  # Methods that C itself defines, although a class of lib has one of the name, too.
  OF_C = %w[abort].freeze

  def test_each_file_lies_in_a_room
    assert_equal ROOMS.keys.sort, c_files.map { |file| File.dirname(file) }.uniq.sort
  end

  # An object file, a breakpoint, a backtrace name no folder.
  def test_no_two_files_have_the_same_name
    assert_empty c_files.group_by { |file| File.basename(file) }.values.reject(&:one?)
  end

  def test_each_room_has_a_readme_of_at_most_thirty_lines
    readmes = Dir["{core,ruby}/*/", base: EXT].map { |room| "#{room}README.md" }

    assert_empty readmes.reject { |file| File.file?(File.join(EXT, file)) }
    assert_empty readmes.select { |file| read(file).count("\n") > 30 }
  end

  def test_no_file_includes_a_room_that_its_own_may_not_use
    c_files.each do |file|
      room = File.dirname(file)
      used = included_by(file).map { |included| File.dirname(included) }.uniq - [room]

      assert_empty used - ROOMS.fetch(room), "included by #{file}"
    end
  end

  # The table above has no circles: a room may use only the rooms that stand before it.
  def test_the_arrows_between_the_rooms_point_one_way
    ROOMS.each_with_index do |(room, used), index|
      assert_empty used - ROOMS.keys.first(index), "used by #{room}"
    end
  end

  # Includes name their file from ext/pelton, so that each include shows the room.
  def test_every_include_of_our_own_names_a_file
    c_files.each do |file|
      assert_empty included_by(file).reject { |included| File.file?(File.join(EXT, included)) }, "included by #{file}"
    end
  end

  # test/core compiles its sources, and each header alone, without Ruby.
  def test_core_includes_nothing_of_ruby
    core = c_files.grep(%r{\Acore/})

    refute_empty core
    core.each { |file| refute_match(/#\s*include\s*["<]ruby/, read(file), file) }
  end

  # A source and the header of its name are one unit. Its functions, those in the header included, call only units below
  # it, also from room to room: so each room can be read from top to bottom.
  def test_the_files_call_each_other_one_way
    refute_empty calls.values.flatten
    assert_empty circles(calls)
  end

  def test_the_headers_include_each_other_one_way
    included = c_files.grep(/\.h\z/).to_h { |file| [file, included_by(file)] }

    refute_empty included.values.flatten
    assert_empty circles(included)
  end

  def test_it_finds_a_circle_that_a_function_in_a_header_closes
    sources = {
      "core/a/one.h" => "static inline int pel_one_p(void)\n{\n    return 1;\n}\n",
      "core/a/one.c" => "int pel_one(void)\n{\n    return pel_two();\n}\n",
      "core/a/two.h" => "int pel_two(void);\nint pel_one(void);\n",
      "core/a/two.c" => "int pel_two(void)\n{\n    return pel_one_p();\n}\n"
    }

    assert_equal [%w[core/a/one core/a/two]], circles(calls_in(sources)).map(&:sort)
  end

  def test_some_calls_are_made_in_one_file_alone
    ALONE.each do |pattern, place|
      assert_equal [place], c_files.select { |file| code(file).match?(pattern) },
        "only #{place} may hold #{pattern.source}"
    end
  end

  # A name that Ruby itself has may stand for Ruby's method. All other calls of lib go through the table in
  # ruby/base/upcall.h.
  def test_c_calls_no_other_method_of_lib_than_the_page_lists
    called = c_files.flat_map do |file|
      code(file).scan(/(?:rb_\w*funcall\w*\([^;]*?|\bid_\w+ = )rb_intern\("(\w+[?!=]?)"\)/).flatten
    end
    defined = Dir["lib/**/*.rb", "pelton-*/lib/**/*.rb", base: ROOT].flat_map do |file|
      File.read(File.join(ROOT, file)).scan(/\bdef (?:self\.)?(\w+[?!=]?)/).flatten
    end
    ruby = [Object, Module, Class, Proc, IO, File, Exception, Thread, Fiber, Hash, Array, UncaughtThrowError,
      Marshal.singleton_class, GC.singleton_class]
      .flat_map { |type| type.instance_methods + type.private_instance_methods }.map(&:to_s)

    assert_empty called & defined - ruby - OF_C
  end

  def test_the_page_lists_the_calls_from_c_and_each_is_registered
    names = code("ruby/base/upcall.h")[/PEL_UPCALLS\(X\).*?^$/m].scan(/\bX\((\w+)\)/).flatten
    registered = Dir["lib/**/*.rb", "pelton-*/lib/**/*.rb", base: ROOT].flat_map do |file|
      File.read(File.join(ROOT, file)).scan(/register_upcalls\((.*?)\)$/m).join.scan(/\b(\w+): |%i\[(.*?)\]/)
    end
      .flatten.compact.flat_map(&:split)
    page = File.read(File.join(ROOT, "docs/internals/architecture.md"))[/^## Calls from C.*?(?=^## )/m]

    refute_empty names
    assert_equal names.sort, registered.sort
    assert_equal names.sort, page.scan(/`(\w+)`/).flatten.sort
  end

  def test_the_extension_exports_its_init_function_alone
    output, = Open3.capture2("nm", "--dynamic", "--defined-only", File.join(ROOT, "lib/pelton/pelton.so"))

    # The last is there with a Ruby in development
    assert_equal ["Init_pelton"],
      output.lines.map { |line| line.split.last }.grep_v(/\A(_init|_fini|_edata|_end|__bss_start|ruby_abi_version)\z/)
  end

  def test_no_file_is_long
    tests = Dir["test/core/**/*.{c,h}", base: ROOT].map { |file| "../../#{file}" }

    assert_empty (c_files + tests).to_h { |file| [file, read(file).count("\n")] }.select { |_, lines| lines > 400 }
  end

  def test_each_source_of_core_has_a_test_of_its_name
    missing = c_files.grep(%r{\Acore/.*\.c\z}).reject do |file|
      File.exist?(File.join(ROOT, "test", file.sub(%r{([^/]+)\z}, "test_\\1")))
    end

    assert_empty missing
  end

  private

  EXT = File.join(ROOT, "ext/pelton")
  private_constant :EXT

  def c_files = Dir["**/*.{c,h}", base: EXT].sort

  def read(file) = File.read(File.join(EXT, file))

  def code(file) = read(file).gsub(%r{/\*.*?\*/|//[^\n]*}m, "")

  FUNCTION = /^\w[^;{}()=]*\b(?<name>\w+)\([^;{}]*\)\s*\{.*?^\}/m
  private_constant :FUNCTION

  def calls = calls_in(c_files.to_h { |file| [file, code(file).gsub(/^#(?:.*\\\n)*.*\n/, "")] })

  # Unit => the other units whose functions it names. Prototypes name none, and structs and members are no functions.
  def calls_in(sources)
    functions = sources.transform_values { |text| text.to_enum(:scan, FUNCTION).map { $~ } }
    homes = functions.flat_map { |file, found| found.map { |match| [match[:name], unit(file)] } }.to_h
    sources.each_with_object(Hash.new { |hash, unit| hash[unit] = [] }) do |(file, text), named|
      text = functions[file].join if file.end_with?(".h")
      named[unit(file)] |= text.scan(/(?<!struct |enum |union |->|\.)\bpel_\w+/).filter_map { |name| homes[name] } -
        [unit(file)]
    end
  end

  def unit(file) = file.delete_suffix(File.extname(file))

  def circles(graph)
    TSort.each_strongly_connected_component(graph.method(:each_key),
      ->(node, &block) { graph.fetch(node, []).each(&block) })
      .reject(&:one?)
  end

  def included_by(file) = read(file).scan(/^\s*#\s*include "([^"]+)"/).flatten
end
