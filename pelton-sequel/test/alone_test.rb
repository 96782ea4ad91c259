# frozen_string_literal: true

require "test_helper"
require_relative "support/alone"

# On SQLite; on the servers in integration/.
class AloneTest < PeltonTest
  include Alone

  def options = {adapter: :pelton_sqlite, database: "#{@folder ||= Dir.mktmpdir("pelton-sequel-")}/test.db"}

  def test_the_adapter_lets_the_loop_turn
    assert_equal "true\n", program(<<~RUBY)
      Pelton.run do
        ticks = 0
        Pelton.add_periodic_timer(0.001) { ticks += 1 }
        DB.fetch("#{long_statement(2_000_000)}").all
        puts ticks > 5
        Pelton.stop
      end
    RUBY
  end
end
