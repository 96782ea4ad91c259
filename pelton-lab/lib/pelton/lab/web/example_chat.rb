# frozen_string_literal: true

require "digest"
require "fileutils"
require "rbconfig"
require "sequel"
require "tmpdir"
require_relative "../installation"
require_relative "programs"

module Pelton
  module Lab
    # The chat of Pelton's examples, and the same pages by others: its data, and how it starts on each server.
    module ExampleChat
      FOLDER = File.expand_path("../../../../../examples/chat", __dir__)
      # A digest of the users' password that costs a millisecond instead of a quarter of a second. Their sign-ins are
      # not measured.
      CHEAP = "$2a$04$0IGvwCKSW98pqFvZhP8c3.ZlN3vgNde5NW7NHehOUHLAoMDGxTaKu"

      # How one of them starts.
      #
      # @!attribute command
      #   @return [#call] see {WebServer.serve}
      # @!attribute share
      #   @return [Integer] how many times as many requests it gets as Rails, so that a round takes as long
      Way = Struct.new(:command, :address, :environment, :options, :share, keyword_init: true)

      class << self
        # @raise [Unavailable] without the examples, which are in a checkout only
        def seeds
          raise Unavailable, "the chat is in a checkout of Pelton only" unless File.exist?(FOLDER)
          made_by = Dir[File.join(FOLDER, "{script/seed.rb,db/migrate/*.rb}")].sort.map { |path| File.read(path) }.join
          path = File.join(Dir.tmpdir, "pelton-lab-chat-#{Digest::SHA256.hexdigest(made_by)[0, 16]}.sqlite3")
          File.exist?(path) ? path : seed(path)
        end

        # @return [String] the path of a copy of the database
        def copy(folder) = File.join(folder, "chat.sqlite3").tap { |path| FileUtils.cp(seeds, path) }

        # @return [Hash{Integer => String}] so many users, the administrator last
        def users(path, number)
          connect(path) do |database|
            database[:users].order(::Sequel.lit("id = 1"), :id).limit(number).select_hash(:id, :name)
          end
        end

        # @return [Integer] how many of these posts are not in the database, once and as they were sent
        def lost(path, acknowledged)
          rows = connect(path) do |database|
            database[:messages].where(client_id: acknowledged.keys).select_map([:client_id, :user_id, :room_id, :id])
          end
          rows = rows.group_by(&:first).transform_values { |found| found.map { |row| row.drop(1) } }
          acknowledged.count { |number, expected| rows[number] != [expected] }
        end

        # What a server's environment must have.
        # @param cache [String] none, fragments or pages
        def environment(way, path, cache, clients: 16)
          {"RUBYLIB" => [Installation::LIBRARIES, ENV["RUBYLIB"]].compact.join(File::PATH_SEPARATOR), "CHAT" => FOLDER,
           "CHAT_CACHE" => cache, "SECRET_KEY_BASE" => "0" * 128,
           "BASE_URL" => "http://127.0.0.1", "RAILS_ENV" => "production", "POOL" => clients.to_s,
           **way.address.call(path), **way.environment}
        end

        # @param workers [Integer] processes; 0: one without others
        # @return [Hash{String => Way}]
        def ways(workers: 0)
          programs = WebPrograms
          pages = %w[pelton rails roda sinatra].to_h { |name| [name, programs.application("example_chat/#{name}")] }
          sequel = ->(path) { {"DATABASE" => path, "ADAPTER" => "sqlite"} }
          rails = ->(path) { {"DATABASE" => "sqlite3:#{path}"} }
          many = workers.zero? ? [] : ["-w", workers.to_s]
          {
            "Puma, Rails" => Way.new(command: programs.puma(pages["rails"], workers:), address: rails,
              environment: {"POOL" => "5"}, share: 1,
              options: {style: "blocking", gem: "rails", with: %w[puma sqlite3]}),
            "Pelton, Rails" => Way.new(command: programs.pelton(pages["rails"], *many), address: rails,
              environment: {"RAILTIE" => "pelton/rails"}, share: 1,
              options: {style: "direct", gem: "rails", with: %w[sqlite3]}),
            "Puma, Roda" => Way.new(command: programs.puma(pages["roda"], workers:), address: sequel,
              environment: {"POOL" => "5"}, share: 2,
              options: {style: "blocking", gem: "roda", with: %w[puma sqlite3]}),
            # It would have Bundler hide all gems but those of one group.
            "Falcon, Roda" => Way.new(command: programs.falcon(pages["roda"], workers: [workers, 1].max),
              address: sequel, environment: {"BUNDLE_GEMFILE" => nil}, share: 2,
              options: {style: "direct", gem: "falcon", with: %w[roda sqlite3]}),
            "itsi, Roda" => Way.new(command: programs.itsi(pages["roda"], threads: 5, workers: [workers, 1].max),
              address: sequel, environment: {"POOL" => "5"}, share: 2,
              options: {style: "blocking", gem: "itsi-server", with: %w[roda sqlite3], extra: true}),
            "Puma, Sinatra" => Way.new(command: programs.puma(pages["sinatra"], workers:), address: sequel,
              environment: {"POOL" => "5"}, share: 2,
              options: {style: "blocking", gem: "sinatra", with: %w[puma sqlite3], extra: true}),
            "Pelton, Roda" => Way.new(command: programs.pelton(pages["roda"], *many),
              address: ->(path) { {"DATABASE" => path, "ADAPTER" => "pelton_sqlite"} }, environment: {"PIECES" => "1"},
              share: 3, options: {style: "direct", gem: "roda"}),
            "Pelton" => Way.new(command: programs.pelton(pages["pelton"],
              *many), address: ->(path) { {"DATABASE_URL" => "sqlite://#{path}"} },
              environment: {"BUNDLE_GEMFILE" => File.join(FOLDER, "Gemfile")},
              share: 4,
              options: {style: "direct"})
          }
        end

        def connect(path, &block) = ::Sequel.connect("extralite://#{path}", &block)

        private

        # Makes it by the chat's own program, with the chat's gems.
        def seed(path)
          ::Sequel.extension(:migration)
          Dir.mktmpdir do |folder|
            made = File.join(folder, "made.sqlite3")
            connect(made) { |database| ::Sequel::Migrator.run(database, File.join(FOLDER, "db/migrate")) }
            environment = {"DATABASE_URL" => "sqlite://#{made}", "BUNDLE_GEMFILE" => File.join(FOLDER, "Gemfile"),
                           "RACK_ENV" => "production", "SECRET_KEY_BASE" => "0" * 128,
                           "BASE_URL" => "http://127.0.0.1"}
            said =
              IO.popen(environment, [RbConfig.ruby, "-I", Installation::LIBRARIES, "-r",
                "bundler/setup", "script/seed.rb"], chdir: FOLDER, err: %i[child out], &:read)
            raise Unavailable, "the chat has no data: #{said.scrub.lines.last&.strip}" unless $?.success?
            connect(made) do |database|
              database[:users].update(password_digest: CHEAP)
              database.run("PRAGMA wal_checkpoint(TRUNCATE)")
            end
            FileUtils.mv(made, path)
          end
          path
        end
      end
    end
  end
end
