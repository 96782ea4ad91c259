# frozen_string_literal: true

require_relative "../../support/comparison/comparisons"

class ComparisonOnMariaDBTest < PeltonTest
  include Comparisons

  def setup = needs_servers

  private

  def databases(_)
    connection = Trilogy.new(**mariadb_options)
    make { |sql| connection.query(sql) }.map { |name| "trilogy://root@127.0.0.1:#{mariadb}/#{name}" }
  ensure
    connection&.close
  end
end
