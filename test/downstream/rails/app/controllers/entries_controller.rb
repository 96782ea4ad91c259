# frozen_string_literal: true

class EntriesController < ActionController::Base
  # As many requests at once as the pool has connections: each request has a connection of its own.
  def lease
    connection = ActiveRecord::Base.lease_connection
    connection.select_value("SELECT 1")
    Barrier.wait("lease", params[:size].to_i)
    render plain: connection.object_id
  end

  # More requests at once than the pool has connections: some wait for one.
  def take_turns
    ActiveRecord::Base.lease_connection.select_value("SELECT 1")
    sleep 0.01
    render plain: "#{ActiveRecord::Base.connection_pool.stat[:connections]} connections"
  end

  def roll_back
    Entry.transaction do
      Entry.create!(name: "never")
      Barrier.wait("inserted", 2)
      Barrier.wait("counted", 2)
      raise ActiveRecord::Rollback
    end
    render plain: Entry.count
  end

  # Counts while the transaction of roll_back is open.
  def count
    Barrier.wait("inserted", 2)
    seen = Entry.count
    Barrier.wait("counted", 2)
    render plain: seen
  end
end
