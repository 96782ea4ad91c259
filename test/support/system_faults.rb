# frozen_string_literal: true

# strace injects faults that rarely happen into a program's system calls. For PeltonTests.
module SystemFaults
  STRACE = %w[/usr/bin /bin].map { |folder| File.join(folder, "strace") }.find { |path| File.executable?(path) }

  private

  # Runs a program whose system calls fail in the given ways, and returns the program's output.
  def inject(*faults, code, backend: ENV["PELTON_BACKEND"])
    skip "strace is not installed" unless STRACE
    command = [STRACE, "-f", "-qq", "-o", File::NULL, "-e", "trace=#{faults.map { |fault| fault[/\A\w+/] }.join(",")}"]
    faults.each { |fault| command.push("-e", "inject=#{fault}") }
    program = "require \"pelton\"\n$stdout.sync = true\n#{code}"
    environment = quiet_environment(backend)
    output = IO.popen([environment, *command, RbConfig.ruby, "-I#{Children::LIB}", "-e", program],
      err: %i[child out], &:read)
    skip "strace may not trace here: #{output}" if output.include?("PTRACE")
    output
  end

  # Starts a program that prints its port, has strace break the system calls of its main thread from then on, and yields
  # port and process id. The program is killed in the end, and its output since the port is returned.
  def break_running(*faults, code, backend: ENV["PELTON_BACKEND"])
    skip "strace is not installed" unless STRACE
    program = "$stdout.sync = true\n#{code}"
    IO.popen([quiet_environment(backend), RbConfig.ruby, "-I#{Children::LIB}", "-e", program],
      err: %i[child out]) do |process|
      port = Integer(process.gets)
      with_strace(process.pid, faults) { yield port, process.pid }
      Process.kill(:KILL, process.pid)
      process.read
    ensure
      Process.kill(:KILL, process.pid)
    end
  end

  # strace makes a loop so slow that the watchdog would report it.
  def quiet_environment(backend) = child_environment.merge("PELTON_BACKEND" => backend, "PELTON_WATCHDOG" => "off")

  def with_strace(pid, faults)
    command = [STRACE, "-p", pid.to_s, "-o", File::NULL, "-e",
      "trace=#{faults.map { |fault| fault[/\A\w+/] }.join(",")}"]
    faults.each { |fault| command.push("-e", "inject=#{fault}") }
    IO.popen(command, err: %i[child out]) do |strace|
      said = strace.gets.to_s
      skip "strace may not trace here: #{said}" unless said.include?("attached")
      yield
    ensure
      Process.kill(:INT, strace.pid) # strace detaches from the program
    end
  end

  # The fault, for those calls that this version of strace knows.
  def every(calls, fault)
    known = calls.select do |call|
      system(STRACE.to_s, "-o", File::NULL, "-e", "trace=#{call}", "true", err: File::NULL)
    end
    known.map { |call| "#{call}:#{fault}" }
  end
end
