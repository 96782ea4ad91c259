# frozen_string_literal: true

require "open3"
require "tmpdir"

# examples/chat in processes of its own. For PeltonTests.
module ChatProgram
  CHAT = File.expand_path("../../examples/chat", __dir__)
  PASSWORD = "correct horse battery" # of all users that script/seed.rb makes

  def setup
    super
    unless system({"BUNDLE_GEMFILE" => "#{CHAT}/Gemfile"}, "bundle", "check", out: File::NULL, err: File::NULL)
      skip "the gems of examples/chat are missing"
    end
  end

  private

  # Runs a command of the chat's bundle to its end.
  #
  # @return [String] its output
  def chat(*command, **environment)
    output, status = Open3.capture2e(chat_environment(environment), "bundle", "exec", *command, chdir: CHAT)
    assert status.success?, output
    output
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
      pid = Process.spawn(chat_environment(environment), "bundle", "exec", "pelton", "serve", *arguments.call(folder),
        :chdir => CHAT, %i[out err] => "#{folder}/log")
      Guard.kill_at_end(pid)
      eventually("the chat", timeout: 30) { File.read("#{folder}/log").match?(/listens on|workers serve/) }
      yield pid, folder
    ensure
      Process.kill(:TERM, pid) && Process.wait(pid) if pid
      puts File.read("#{folder}/log") if failures.any?
    end
  end
end
