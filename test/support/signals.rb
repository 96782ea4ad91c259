# frozen_string_literal: true

require "rbconfig"

# Programs to which signals come all the time, as from a profiler.
module Signals
  # Runs a program that has loaded pelton/http.
  #
  # @return [String] its output
  def under_signals(program)
    program = <<~RUBY
      require "pelton/http"
      trap("USR2") {}
      sender = spawn(RbConfig.ruby, "--disable=gems", "-e",
        "loop { sleep 0.0002; Process.kill(:USR2, \#{Process.pid}) }", out: File::NULL, err: File::NULL)
      at_exit { Process.kill(:KILL, sender) }
      #{program}
    RUBY
    IO.popen([RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__), "-e", program, err: %i[child out]], &:read)
  end
end
