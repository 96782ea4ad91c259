# frozen_string_literal: true

desc "Use memcached for SOAK_SECONDS seconds (default 600) under all kinds of faults; SOAK_SEED=n makes the same faults again"
task soak: :compile do
  # Guard ends the servers, however this task ends.
  program = <<~'RUBY'
    require "./test/support/guard"
    Guard.start
    require "./test/soak/memcached"
    seconds = Integer(ENV.fetch("SOAK_SECONDS", "600"))
    seed = Integer(ENV.fetch("SOAK_SEED") { Random.new_seed % 100_000 })
    puts "#{seconds} seconds, seed #{seed}"
    soak = Soak::Memcached.new(seconds, seed)
    soak.run or abort "a wrong answer (above); SOAK_SEED=#{seed}"
    puts soak.answers.map { |name, count| "#{name}: #{count}" }, "troubles: #{soak.troubles.inspect}"
    puts format("memory: %d KB at first, %d KB at last; %.2f of what it was", soak.memory.first, soak.memory.last, soak.growth)
    abort "the memory grows" if seconds >= 300 && soak.growth > 1.15
  RUBY
  # The arenas of threads would hide a leak of the load.
  sh({"MALLOC_ARENA_MAX" => "2"}, RbConfig.ruby, "-Ilib", "-e", program, verbose: false)
end
