# frozen_string_literal: true

require "optparse"
require_relative "../generators"

module Pelton
  module Web
    module Generators
      # `pelton new APP`: writes a small application that runs and passes its tests. Never overwrites anything.
      # @private
      class Application
        USAGE = <<~TEXT
          usage: pelton new APP [options]

          Writes a web application into the new folder APP: routes, a controller, a model on SQLite, a live page, tests.
          APP is a name in lower case such as shop or photo_album.

        TEXT

        NAME = /\A[a-z][a-z0-9]*(?:_[a-z0-9]+)*\z/
        LONGEST = 50
        # Names that the application's files define.
        TAKEN = %w[Application ApplicationController ApplicationHelper ApplicationTest ApplicationConnection Message
          MessagesController MessagesControllerTest MessagesChannel
          MessagesChannelTest Home HomeController
          HomeControllerTest Background BACKGROUND Test Config Public].freeze
        # The gem for each database besides pelton-sequel; SQLite needs none.
        DATABASES = {"sqlite" => nil, "postgres" => "gem \"pg\", \"~> 1.5\"", "mysql" => "gem \"trilogy\", \"~> 2.9\"",
                     "none" => nil}.freeze
        private_constant :NAME, :LONGEST, :TAKEN

        # @return [Integer] the exit status: 0; 1 if the application cannot be written; 2 if the arguments are wrong
        def self.run(arguments, out: $stdout, error: $stderr)
          settings = {}
          parser = OptionParser.new(USAGE) do |options|
            options.on("-d", "--database KIND", DATABASES.keys,
              "#{DATABASES.keys.join(", ")}; otherwise sqlite") { |kind| settings[:database] = kind }
            options.on("--bare", "without the messages: one empty page") { settings[:bare] = true }
            options.on("--gems FOLDER", "a checkout of Pelton whose gems the application uses") do |folder|
              settings[:gems] = folder
            end
            options.on("-h", "--help", "show this") { out.puts(options) || (return 0) }
          end
          name, *rest = parser.parse(arguments)
          return error.puts(parser) || 2 if name.nil? || rest.any?
          new(name, out: out, **settings).write
          out.puts("", "#{name}/ is written. What now: cd #{name}; bundle install; bundle exec rake. Its README says " \
            "how to start it.")
          0
        rescue OptionParser::ParseError => problem
          error.puts("pelton new: #{problem.message}", "", parser)
          2
        rescue Refused, SystemCallError => problem
          error.puts("pelton new: #{problem.message}")
          1
        end

        # @param bare [Boolean] whether to write an empty page only, as without a database
        # @raise [Refused] if the name is invalid
        def initialize(name, folder: Dir.pwd, database: "sqlite", bare: false, gems: nil, out: StringIO.new)
          @name = name
          @target = File.join(folder, name)
          @database = database
          @bare = bare || database == "none"
          @gems = gems && File.expand_path(gems)
          check
          @files = Files.new(@target, out: out)
        end

        # @return [String] the application's class: PhotoAlbum for photo_album
        def application = Name.camel(@name)

        # @return [Array<String>] the written files
        # @raise [Refused] if a file or folder of that name exists
        # @raise [SystemCallError] if it cannot be written
        def write
          Dir.mkdir(@target)
          sets = ["application", *("database" if database?), bare? ? "bare" : "example"]
          sets.flat_map do |set|
            Template.paths(set).each { |path| @files.write(path, Template.render("#{set}/#{path}", self)) }
          end.sort
        rescue Errno::EEXIST
          raise Refused, "#{@target} is there already: choose another name, or remove it"
        end

        private

        def check
          unless NAME.match?(@name)
            raise Refused, "#{@name[0, 60].inspect} cannot be the name of an application: use lower case letters, " \
              "digits and single _, as in photo_album"
          end
          raise Refused, "the name may have #{LONGEST} characters at most" if @name.size > LONGEST
          if TAKEN.include?(application) || Object.const_defined?(application)
            raise Refused, "#{application} is the name of something else in Ruby or in the application: choose another"
          end
          unless @gems.nil? || File.directory?(File.join(@gems, "pelton-web"))
            raise Refused, "there is no pelton-web in #{@gems}"
          end
        end

        def bare? = @bare

        def database? = @database != "none"

        # @return [String] Ruby code for the database's address
        def database_address
          case @database
          when "postgres" then "\"postgres:///#{@name}_\#{environment}\""
          when "mysql" then "\"mysql://root@localhost/#{@name}_\#{environment}\""
          else "\"sqlite://\#{File.expand_path(\"../db\", __dir__)}/\#{environment}.sqlite3\""
          end
        end

        # @return [String] Ruby code for the test database's address
        def test_address
          (@database == "sqlite") ? "\"sqlite::memory:\"" : database_address.sub("\#{environment}", "test")
        end

        def source = Gem.sources.to_a.first

        def gems
          pelton = ["pelton", "pelton-web", *("pelton-sequel" if database?)].map do |gem|
            next "gem \"#{gem}\", \"~> #{VERSION}\"" unless @gems
            "gem \"#{gem}\", path: #{((gem == "pelton") ? @gems : File.join(@gems, gem)).inspect}"
          end
          websockets = "gem \"websocket-driver\", \"~> 0.8\", require: false # of the channels" unless bare?
          # An earlier Ruby has it, and would compile a newer one's dependencies
          irb = "gem \"irb\", require: false # of the consoles" if RUBY_VERSION >= "4.0"
          [*pelton, *DATABASES.fetch(@database), *websockets, *irb].join("\n")
        end
      end
    end
  end
end
