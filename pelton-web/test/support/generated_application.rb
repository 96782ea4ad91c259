# frozen_string_literal: true

require "pelton/http"
require "pelton/web/generators/application"
require_relative "../../../test/support/running_program"
require_relative "../../../test/support/temporary_folder"

# An application that `pelton new` has written with this checkout's gems, in a folder of the test.
module GeneratedApplication
  include RunningPrograms
  include TemporaryFolder

  # @return [Array<String>] the files
  def generate(name = "photo_album", **options)
    @name = name
    Pelton::Web::Generators::Application.new(name, folder: @folder, gems: PeltonTest::ROOT, **options).write
  end

  def root = File.join(@folder, @name)

  # The output of a command in the application; fails when the command does.
  def lines_of(*command, **options) = command_output(*command, env: environment, chdir: root, **options)

  def environment
    child_environment.merge("MT_NO_PLUGINS" => "1", "BUNDLE_GEMFILE" => File.join(root,
      "Gemfile"), "RACK_ENV" => nil, "DATABASE_URL" => nil, "RUBYLIB" => nil, "RUBYOPT" => nil)
  end

  # Fails unless the application is in standard's style, by this repository's gems.
  def assert_style
    command_output("bundle", "exec", "standardrb", "--no-fix", root, chdir: PeltonTest::ROOT,
      env: {"BUNDLE_GEMFILE" => File.join(PeltonTest::ROOT, "Gemfile")})
  end

  # Serves the application while the block runs.
  #
  # @yieldparam url [String] with a slash at its end
  def serving(**variables)
    command = %w[bundle exec pelton serve --bind tcp://127.0.0.1:0]
    server =
      RunningProgram.new(command, environment.merge(variables.transform_keys(&:to_s)), folder: root,
        log: "#{@folder}/serve.log")
    await_program(server) { server.port }
    yield "http://127.0.0.1:#{server.port}/"
  ensure
    server&.stop
  end

  # A browser as far as cookies and forms go.
  class Browser
    # @return [Pelton::HTTP::Response] the last one
    attr_reader :response

    # @return [Hash{String => String}]
    attr_reader :cookies

    # @param url [String] of the application
    def initialize(url)
      @url = url.chomp("/")
      @cookies = {}
    end

    def initialize_copy(other)
      @cookies = other.cookies.dup
    end

    # @return [Integer] the status
    def get(path, headers: {}) = ask(:get, path, headers: headers)

    # @return [Integer] the status
    def post(path, form = {}, method: nil, headers: {})
      ask(:post, path, form: form.merge({"_method" => method}.compact), headers: headers)
    end

    # @return [Integer] the status of the page to which the last answer leads
    def follow = get(response.headers["location"].delete_prefix(@url))

    private

    def ask(verb, path, headers: {}, **options)
      headers = {"origin" => @url, "sec-fetch-site" => "same-origin",
                 "cookie" => @cookies.map { |pair| pair.join("=") }.join("; ")}.merge(headers)
      @response = Pelton::HTTP.public_send(verb, @url + path, headers: headers, redirects: 0, **options)
      keep(@response.headers["set-cookie"])
      @response.status
    end

    def keep(lines)
      Array(lines).flat_map { |line| line.split("\n") }.each do |line|
        name, value = line[/\A[^;]*/].split("=", 2)
        line.include?("max-age=0") ? @cookies.delete(name) : @cookies[name] = value
      end
    end
  end
end
