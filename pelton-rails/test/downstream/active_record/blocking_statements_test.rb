# frozen_string_literal: true

require_relative "../../support/rails_program"
require_relative "../../../../test/support/databases"

# Statements that block the process: the watchdog says where it is meanwhile.
class BlockingStatementsTest < PeltonTest
  include RailsProgram
  include Databases

  self.deadline = 120

  def test_the_watchdog_names_statements_of_sqlite3_and_prepared_ones_of_mysql2
    needs_servers
    output = rails_output(<<~'RUBY', "mysql2://root@127.0.0.1:#{mariadb}/test", setup: APPLICATION + DATABASE)
      class Remote < ActiveRecord::Base
        self.abstract_class = true
        establish_connection(ARGV.fetch(0))
      end
      def a_long_statement_of_sqlite
        Post.lease_connection.select_value(
          "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3000000) SELECT count(*) FROM c"
        )
      end
      def a_prepared_statement_of_mysql2
        Remote.lease_connection.raw_connection.prepare("SELECT SLEEP(0.5)").execute.to_a
      end
      def a_query_of_mysql2 = Remote.lease_connection.select_value("SELECT SLEEP(0.5)")
      Remote.lease_connection.select_value("SELECT 1")
      stalls = []
      Pelton.on_stall { |stall| stalls << stall.backtrace }
      Pelton.watchdog = 0.05
      Pelton.run do
        %i[a_long_statement_of_sqlite a_prepared_statement_of_mysql2 a_query_of_mysql2].each do |name|
          stalls.clear
          turns = 0
          other = Pelton.spawn(transient: true) { loop { sleep(0.01) && turns += 1 } }
          send(name)
          others = "others went on" if turns > 5
          other.cancel
          sleep 0.01 # a stall is reported when the loop goes on
          puts "#{name}: #{others}#{stalls.flatten.join(" < ")}"
        end
      end
    RUBY
    sqlite, prepared, query = output.lines

    assert_match(/^a_long_statement_of_sqlite: .*sqlite3.* < .*a_long_statement_of_sqlite'/, sqlite)
    assert_match(/^a_prepared_statement_of_mysql2: .*execute'.* < .*a_prepared_statement_of_mysql2'/, prepared)
    assert_equal "a_query_of_mysql2: others went on\n", query
  end
end
