# frozen_string_literal: true

require_relative "../../support/comparison/comparisons"

class ComparisonOnPostgreSQLTest < PeltonTest
  include Comparisons

  def setup = needs_servers

  private

  def databases(_)
    make(PG.connect(**postgres_options), :exec).map { |name| "postgresql://postgres@127.0.0.1:#{postgres}/#{name}" }
  end
end
