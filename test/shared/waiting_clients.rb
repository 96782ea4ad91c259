# frozen_string_literal: true

# Clients of other gems wait on the scheduler: the server itself reports how many of them wait at once. A class that
# includes this has `connect`, `hold` and `let_go`, which make others wait, `wait_for(number)`, and `waiting`, the
# number of those who wait.
module WaitingClients
  def test_clients_wait_at_the_same_time
    Pelton.run do
      boss = connect
      hold(boss)
      tasks = Array.new(10) { |number| Pelton.spawn { wait_for(number) } }
      eventually("ten waiting clients") { waiting(boss) == 10 }
      assert_empty tasks.select(&:done?)
      let_go(boss)

      assert_equal (0..9).to_a, tasks.map(&:await).sort
    end
  end
end
