# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../support/http/random_clients"

# Random applications and clients that leave where the applications wait. Each program's seed is printed when it begins,
# so that a crash shows it, too; PELTON_SEED=... runs that program again and again. `rake fuzz:clients SECONDS=600` runs
# them for longer, under ASAN.
class HTTPRandomClientsTest < PeltonTest
  SECONDS = Float(ENV.fetch("PELTON_FUZZ_SECONDS", "1.5"))
  self.deadline = 60 + 2 * SECONDS

  def test_random_clients
    count = 0
    limit = now + SECONDS
    while now < limit
      program = RandomClients.new(Integer(ENV["PELTON_SEED"] || Random.new_seed % 1_000_000_000))
      $stderr.write("\r#{program} ")
      problems = program.call
      count += 1

      assert_empty problems, "#{program}: run it again with PELTON_SEED=#{program.seed}"
    end
    $stderr.write("\r#{count} programs of clients in #{SECONDS} s\n")
  end
end
