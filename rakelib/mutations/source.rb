# frozen_string_literal: true

module Mutations
  # A file of the product: its room, and its tests.
  class Source
    # What the lab measures, and its measurements: programs that no unit test runs.
    LEFT_OUT = %r{\A(lib/pelton/version\.rb|pelton-lab/lib/pelton/lab/(applications|experiments)/)}
    ROOMS = %w[memcached pubsub resumable_stream http cable cluster integrations opentelemetry].freeze
    # Folders of test/ that test no room.
    OTHER = %w[core downstream integration repository shared site soak support valgrind test_helper].freeze
    # What tests a room of ext/pelton/ruby, if more than the tests of the room's name do.
    EXTENSION = {
      "base" => %w[
        extension error opaque stream/garbage watching/shared_counters reactor tasks/operation waiting/timer
      ],
      "http" => %w[http rackup],
      "operation" => %w[tasks reactor/stop waiting/timeout waiting/without_yielding],
      "reactor" => %w[reactor tasks extension watching/watchdog waiting],
      "scheduler" => %w[waiting reactor]
    }.freeze
    # Its tests in downstream/ need the gems of `bin/setup downstream`.
    RAILS = "pelton-rails/test"

    # @return [Array<Source>] those of the tree, whose path the pattern matches
    def self.all(root, only = //)
      paths = Dir["{lib,pelton-*/lib}/**/*.rb", "ext/pelton/{core,ruby}/**/*.c", base: root].sort
      paths.reject { |path| path.match?(LEFT_OUT) }.grep(only).map { |path| new(root, path) }
    end

    attr_reader :path

    def initialize(root, path)
      @root, @path = root, path
    end

    def c? = path.end_with?(".c")

    # Whether it is of the part of the C extension that is tested without Ruby.
    def core? = path.start_with?("ext/pelton/core/")

    def text = @text ||= File.read(File.join(@root, path), encoding: "UTF-8")

    # Lines of code.
    def size = @size ||= text.lines.count { |line| !line.match?(%r{\A\s*(#(?!include|define)|//|/\*|\*|$)}) }

    def changes = (c? ? CChanges : RubyChanges).of(text)

    def room
      case path
      when %r{\Aext/pelton/(core|ruby)/(\w+)/} then "#{$1}/#{$2}"
      when %r{\Aext/pelton/ruby/} then "ruby/base"
      when %r{\Alib/rack(up)?/} then "http"
      when %r{\Alib/pelton/(\w+)(/|\.rb)} then ROOMS.include?($1) ? $1 : "runtime"
      when %r{\Alib/} then "runtime"
      when %r{/lib/pelton/active_record} then "active_record"
      else path[/\Apelton-(\w+)/, 1]
      end
    end

    # @return [Array<String>] the tests of its name, of those of its room
    def named_tests
      return room_tests.grep(%r{/test_#{name}(_\w+)?\.c\z}) if core?
      return room_tests.grep(%r{/#{Regexp.union(c_names)}(_\w+)?_test\.rb\z}) if c?
      pattern = /\A#{Regexp.union(names)}(_[a-z0-9_]+)?_test\.rb\z/
      room_tests.select { |test| test.sub(%r{\A.*?test/(downstream/)?}, "").match?(pattern) }
    end

    # @return [Array<String>] the tests of its room
    def room_tests = @room_tests ||= find_room_tests

    private

    def name = File.basename(path, ".*")

    # A C file's name may begin with its room's, and end with "_class".
    def c_names
      short = name.delete_prefix("#{room[%r{\w+\z}]}_")
      [name, short].flat_map { |one| [one, one.delete_suffix("_class")] }.uniq
    end

    # lib/pelton/foo/bar.rb is tested by test/foo/bar_test.rb, and pelton-web/lib/pelton/web/foo.rb by
    # pelton-web/test/foo_test.rb. What belongs to another library keeps its path, or all of it but that library's name.
    def names
      inside = path.sub(%r{\A.*?lib/}, "").delete_suffix(".rb")
      gem = path[/\Apelton-(\w+)/, 1]
      [inside, inside.delete_prefix("pelton/"), inside.delete_prefix("pelton/#{gem}/"), inside.sub(%r{\A\w+/}, "")].uniq
    end

    def find_room_tests
      case room
      when %r{\Acore/(\w+)} then glob("test/core/#{$1}/test_*.c")
      when %r{\Aruby/(\w+)} then named(*EXTENSION.fetch($1, [$1]))
      when "runtime" then runtime_tests
      when "http" then named("http", "rackup")
      when "integrations" then named(room, *("downstream/#{room}" if Dir.exist?(File.join(@root, "tmp/web"))))
      when *ROOMS then named(room)
      when "rails", "active_record" then rails_tests
      else glob("pelton-#{room}/test/**/*_test.rb").grep_v(%r{/test/(integration|downstream)/})
      end
    end

    def named(*names) = names.flat_map { |name| glob("test/#{name}{,/**/*}_test.rb") }

    def runtime_tests
      glob("test/**/*_test.rb").grep_v(%r{\Atest/#{Regexp.union(*ROOMS, *OTHER, "rackup")}(/|_test)})
    end

    # Those with Rails boot it: of these only the ones of the file's folder, or of its name.
    def rails_tests
      tests = glob("#{RAILS}/**/*_test.rb").grep_v(%r{/downstream/})
      return tests unless Dir.exist?(File.join(@root, "tmp/rails"))
      names.flat_map { |name| glob("#{RAILS}/downstream/#{name[%r{\A(active_record/)?\w+}]}{,_*,/**/*}_test.rb") } |
        tests
    end

    def glob(pattern) = Dir[pattern, base: @root].sort
  end
end
