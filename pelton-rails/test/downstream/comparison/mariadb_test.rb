# frozen_string_literal: true

require_relative "../../support/comparison/comparisons"

class ComparisonOnMariaDBTest < PeltonTest
  include Comparisons

  def setup = needs_servers

  private

  def databases(_)
    make(Trilogy.new(**mariadb_options), :query).map { |name| "trilogy://root@127.0.0.1:#{mariadb}/#{name}" }
  end
end
