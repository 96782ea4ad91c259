# frozen_string_literal: true

require "tmpdir"
require_relative "running_program"

# examples/chat in processes of its own. For PeltonTests.
module ChatProgram
  include RunningPrograms

  CHAT = File.expand_path("../../examples/chat", __dir__)
  PASSWORD = "correct horse battery" # of all users that script/seed.rb makes

  # Its gems are where those of the tests are.
  def self.installed?
    system({"BUNDLE_GEMFILE" => "#{CHAT}/Gemfile"}, "bundle", "check", out: File::NULL, err: File::NULL)
  end

  def setup
    super
    skip "the gems of examples/chat are missing" unless ChatProgram.installed?
  end

  private

  # Runs a command of the chat's bundle to its end.
  #
  # @return [String] its output
  def chat(*command, **environment)
    command_output("bundle", "exec", *command, env: chat_environment(environment), chdir: CHAT)
  end

  def chat_environment(environment)
    {"BUNDLE_GEMFILE" => "#{CHAT}/Gemfile", "RUBYOPT" => nil, "RUBYLIB" => nil, **environment.transform_keys(&:to_s)}
  end

  # Serves it in production from a new folder, with so many users, rooms and messages.
  #
  # @param arguments [#call] gets the folder, returns the arguments of pelton serve
  # @yieldparam pid [Integer] of the server
  # @yieldparam folder [String] its output is in the file "log"
  def serving_chat(seeds, arguments)
    Dir.mktmpdir do |folder|
      File.chmod(0o755, folder)
      environment = {RACK_ENV: "production", SECRET_KEY_BASE: "s" * 64, BASE_URL: "http://127.0.0.1",
                     DATABASE_URL: "sqlite://#{folder}/chat.sqlite3", UPLOADS: "#{folder}/uploads",
                     TRUSTED_PROXIES: "unix"}
      chat("pelton", "db", "migrate", **environment)
      chat("ruby", "script/seed.rb", *seeds.map(&:to_s), **environment)
      command = %w[bundle exec pelton serve] + arguments.call(folder)
      program = RunningProgram.new(command, chat_environment(environment), folder: CHAT, log: "#{folder}/log")
      await_program(program, "the chat", timeout: 30) { program.output.match?(/listens on|workers serve/) }
      yield program.pid, folder
    ensure
      program&.stop
      puts File.read("#{folder}/log") if failures.any?
    end
  end
end
