# frozen_string_literal: true

require_relative "../../test_helper"
require_relative "../../shared/pubsub_carriers"
require "pg"

class PubSubPostgreSQLTest < PeltonTest
  include PubSubCarriers

  private

  def url(port = postgres) = "postgres://postgres@127.0.0.1:#{port || postgres}/postgres"

  # A crash, after which it recovers.
  def own_process = DatabaseProcess.new("QUIT") { |port| Databases.postgres_command(port) }

  # As after a crash, which empties tables that are UNLOGGED.
  def forget_everything
    connection = PG.connect(**postgres_options)
    tables = connection.exec("SELECT tablename FROM pg_tables WHERE tablename LIKE 'pelton_pubsub_%'").column_values(0)
    connection.exec("TRUNCATE #{tables.join(", ")}") if tables.any?
  ensure
    connection&.close
  end
end
