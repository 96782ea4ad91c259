# frozen_string_literal: true

require "fileutils"
require "json"
require "net/http"
require "open3"
require "tmpdir"
require "pg"
require_relative "helper"
require_relative "../../pelton-rails/test/support/channel_client"
require_relative "../support/databases"
require_relative "../support/gem_program"
require_relative "../support/running_program"
require_relative "../support/sockets"

# Applications that `rails new` has made, with the files of test/downstream/rails, on `rails server -u pelton` and on
# `pelton serve`.
class RailsTest < DownstreamTest
  include Databases
  include GemProgram
  include RunningPrograms
  include Sockets

  GEMS = GemProgram::Gems.new("gemfiles/rails.rb", folder: "tmp/rails", missing: "bin/setup downstream brings Rails",
    environment: {"RAILS_LOG_TO_STDOUT" => "1"})
  FILES = File.join(__dir__, "rails")
  self.deadline = 120

  BOOT = 60 # seconds
  FIBERS = "config.active_support.isolation_level = :fiber"

  def setup
    needs_gems(GEMS)
    @folder = Dir.mktmpdir("pelton-rails-")
    FileUtils.cp_r("#{self.class.application}/.", @folder)
    @port = free_port
  end

  def teardown
    @server&.stop
    FileUtils.rm_rf(@folder) if @folder
  end

  class << self
    def environment
      without = ENV.keys.grep(/\A(BUNDLE|BUNDLER|RUBYOPT|RUBYLIB|MT_|RAILS|RACK)/).to_h { |name| [name, nil] }
      without.merge(GEMS.environment)
    end

    # The application is made once.
    def application
      @application ||= Dir.mktmpdir("pelton-rails-").tap do |folder|
        Minitest.after_run { FileUtils.rm_rf(folder) }
        output, status = Open3.capture2e(environment, "bundle", "exec", "rails", "new", folder, "--name=demo",
          "--minimal", "--skip-asset-pipeline",
          "--skip-bundle", "--skip-git", chdir: folder)
        raise output unless status.success?
        FileUtils.cp_r("#{FILES}/.", folder)
        edit("#{folder}/config/application.rb", 'require "action_view/railtie"',
          %(require "action_view/railtie"\nrequire "action_cable/engine"))
        edit("#{folder}/config/application.rb", "config.load_defaults 7.2",
          "config.load_defaults 7.2\n    config.i18n.available_locales = %i[en de]")
        edit("#{folder}/config/environments/production.rb", "config.force_ssl = true", "config.force_ssl = false")
        FileUtils.rm("#{folder}/Gemfile")
        edit("#{folder}/config/boot.rb", /^ENV\["BUNDLE_GEMFILE"\].*/, "")
      end
    end

    def edit(path, text, other)
      content = File.read(path)
      raise "#{path} has no #{text}" unless content[text]
      File.write(path, content.sub(text) { other })
    end
  end

  def test_rails_server_in_development
    serve("bin/rails", "server", "-u", "pelton", "-p", @port.to_s)

    assert_match(/=> Booting Pelton\n.*Pelton \S+ listens on http:\/\/localhost:#{@port}/m, @server.output)
    refute_match(/Rails keeps/, @server.output) # pelton-rails has set it
    assert_match(/^pelton: Rails: the database adapter sqlite3 blocks/, @server.output)
    assert_equal @server.pid, Integer(File.read("#{@folder}/tmp/pids/server.pid"))
    assert_equal ["20"] * 20, at_once(20) { get("/meet?size=20").body }
    requests_keep_what_is_theirs
    code_is_loaded_again
    assert_equal "5000000 ", post("/upload", "x" * 5_000_000).body
    assert_equal "500", get("/failure").code
    assert_equal "first", get("/version").body
    assert_equal 0, @server.stop("INT").exitstatus
    assert_match(/Started GET "\/meet\?size=20" for 127.0.0.1.*RuntimeError \(on purpose\).*^Exiting$/m, @server.output)
    refute_path_exists "#{@folder}/tmp/pids/server.pid"
  end

  def test_live_streams
    serve("bin/rails", "server", "-u", "pelton", "-p", @port.to_s)
    parts = []
    Net::HTTP.start("127.0.0.1", @port) do |http|
      http.request_get("/live?size=2") do |response|
        response.read_body do |part|
          get("/meet?size=2") if parts.empty?
          parts << part
        end
      end
    end

    assert_equal ["data: first\n\n", "data: second\n\n"], parts
  end

  def test_action_cable
    serve("bin/rails", "server", "-u", "pelton", "-p", @port.to_s)
    answer = Pelton.run do
      client = ChannelClient.new(@port, "EchoChannel")
      client.ask("speak", text: "hello").tap { client.socket.close }
    end

    assert_equal({"text" => "hello"}, answer)
  end

  def test_active_record_with_sqlite
    File.write("#{@folder}/db/migrate.rb",
      "ActiveRecord::Schema.define { create_table(:entries) { |table| table.string :name } }")
    command_output("bin/rails", "runner", "load 'db/migrate.rb'", env: environment, chdir: @folder)
    serve("bin/rails", "server", "-u", "pelton", "-p", @port.to_s)

    active_record(5)
  end

  def test_active_record_with_postgres
    environment = {"DATABASE_URL" => "postgresql://postgres@127.0.0.1:#{postgres}/postgres?pool=4"}
    PG.connect(**postgres_options).tap do |connection|
      connection.exec("DROP TABLE IF EXISTS entries; CREATE TABLE entries (id bigserial PRIMARY KEY, name text)")
    end.close
    self.class.edit("#{@folder}/config/application.rb", "config.load_defaults 7.2",
      "config.load_defaults 7.2\n    #{FIBERS}")
    serve("bin/rails", "server", "-u", "pelton", "-p", @port.to_s, environment: environment)

    refute_match(/Rails keeps/, @server.output)
    active_record(4)
  end

  def test_pelton_serve_in_production_with_workers
    self.class.edit("#{@folder}/config/application.rb", "config.load_defaults 7.2",
      "config.load_defaults 7.2\n    #{FIBERS}")
    File.write("#{@folder}/config/pelton.rb", <<~RUBY)
      bind "tcp://127.0.0.1:#{@port}"
      workers 2
      preload true
      environment "production"
      quiet true
    RUBY
    serve("bundle", "exec", "pelton", "serve", environment: {"SECRET_KEY_BASE" => "0" * 64})
    pids = []
    eventually("both workers", timeout: BOOT) { (pids |= [get("/pid").body]).size == 2 }

    refute_includes pids, @server.pid.to_s
    assert_equal "first", get("/version").body
    assert_equal 0, @server.stop.exitstatus
  end

  private

  def requests_keep_what_is_theirs
    expected = Array.new(6) do |number|
      ["v#{number}", %w[UTC Tokyo Bern][number % 3], %w[en de][number % 2], "v#{number}"]
    end
    answers = at_once(6) do |number|
      visitor, zone, locale, = expected[number]
      get("/current?visitor=#{visitor}&zone=#{zone}&locale=#{locale}&size=6").body
    end

    assert_equal expected.map { |one| one.join(" ") }, answers
  end

  def code_is_loaded_again
    path = "#{@folder}/app/controllers/pages_controller.rb"
    assert_equal "first", get("/version").body
    self.class.edit(path, '"first"', '"second"')
    assert_equal "second", get("/version").body
    self.class.edit(path, '"second"', '"first"')
  end

  def active_record(pool)
    assert_equal pool, at_once(pool) { get("/lease?size=#{pool}").body }.uniq.size
    assert_equal ["#{pool} connections"], at_once(pool * 3) { get("/take_turns").body }.uniq
    assert_equal %w[0 0], at_once(2) { |number| get(number.zero? ? "/roll_back" : "/count").body }
  end

  # ---- the server ----------------------------------------------------------------------------------------------------

  def environment = self.class.environment

  def serve(*command, environment: {})
    environment = self.environment.merge(environment)
    @server = RunningProgram.new(command, environment, folder: @folder, log: "#{@folder}/output")
    await_program(@server) { listens?(@port) }
  end

  # ---- its clients ---------------------------------------------------------------------------------------------------

  def get(path) = Net::HTTP.get_response("127.0.0.1", path, @port)

  def post(path, body)
    Net::HTTP.start("127.0.0.1", @port) { |http| http.post(path, body, "content-type" => "application/octet-stream") }
  end

  def at_once(count, &block) = Array.new(count) { |number| Thread.new { block.call(number) } }.map(&:value)
end
