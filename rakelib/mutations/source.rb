# frozen_string_literal: true

module Mutations
  # A file of the product: its room, and its tests.
  class Source
    # What the lab measures, and its measurements: programs that no unit test runs.
    LEFT_OUT = %r{\A(lib/pelton/version\.rb|pelton-lab/lib/pelton/lab/(applications|experiments)/)}
    ROOMS = %w[memcached pubsub resumable_stream http cable cluster integrations opentelemetry].freeze
    # Folders of test/ that test no room.
    OTHER = %w[core downstream integration repository shared site soak support valgrind].freeze
    # Their tests need the gems of `bin/setup downstream`.
    DOWNSTREAM = %w[rails active_record].freeze

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
      return room_tests.grep(%r{/(#{name}|#{name.delete_suffix("_class")})(_\w+)?_test\.rb\z}) if c?
      pattern = /\A#{Regexp.union(names)}(_[a-z0-9_]+)?_test\.rb\z/
      room_tests.select { |test| test.sub(%r{\A.*?test/(downstream/)?}, "").match?(pattern) }
    end

    # @return [Array<String>] the tests of its room; those of its folder first
    def room_tests
      @room_tests ||= find_room_tests.sort_by do |test|
        [test.include?("/downstream/") ? 1 : 0, near?(test) ? 0 : 1, test]
      end
    end

    private

    def name = File.basename(path, ".*")

    # lib/pelton/foo/bar.rb is tested by test/foo/bar_test.rb, and pelton-web/lib/pelton/web/foo.rb by
    # pelton-web/test/foo_test.rb. What belongs to another library keeps its path, or all of it but that library's name.
    def names
      inside = path.sub(%r{\A.*?lib/}, "").delete_suffix(".rb")
      gem = path[/\Apelton-(\w+)/, 1]
      [inside, inside.delete_prefix("pelton/"), inside.delete_prefix("pelton/#{gem}/"), inside.sub(%r{\A\w+/}, "")].uniq
    end

    def near?(test)
      folder = c? ? path.split("/")[3] : File.basename(File.dirname(path))
      test.include?("/#{folder}/") || test.include?("/#{name}")
    end

    def find_room_tests
      case room
      when %r{\Acore/(\w+)} then glob("test/core/#{$1}/test_*.c")
      when "ruby/http", "ruby/memcached" then of_room(room.delete_prefix("ruby/"))
      when %r{\Aruby/|\Aruntime\z} then runtime_tests
      when *ROOMS then of_room(room)
      when *DOWNSTREAM then rails_tests.group_by { |test| test[%r{/(active_record)[/_]}, 1] || "rails" }.fetch(room, [])
      else glob("pelton-#{room}/test/**/*_test.rb").grep_v(%r{/test/(integration|downstream)/})
      end
    end

    def of_room(name) = glob("test/#{name}{,/**/*}_test.rb", ("test/rackup/**/*_test.rb" if name == "http"))

    def runtime_tests
      glob("test/**/*_test.rb").grep_v(%r{\Atest/#{Regexp.union(*ROOMS, *OTHER, "rackup")}(/|_test)})
    end

    def rails_tests
      tests = glob("pelton-rails/test/**/*_test.rb")
      Dir.exist?(File.join(@root, "tmp/rails")) ? tests : tests.grep_v(%r{/downstream/})
    end

    def glob(*patterns) = Dir[*patterns.compact, base: @root].sort.uniq
  end
end
