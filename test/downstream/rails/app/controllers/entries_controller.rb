# frozen_string_literal: true

class EntriesController < ActionController::Base
  # As many at once as the pool has connections: each has one of its own.
  def lease
    connection = ActiveRecord::Base.lease_connection
    connection.select_value("SELECT 1")
    Crowd.wait("lease", params[:size].to_i)
    render plain: connection.object_id
  end

  # More at once than the pool has connections: they wait for one.
  def take_turns
    ActiveRecord::Base.lease_connection.select_value("SELECT 1")
    sleep 0.01
    render plain: "#{ActiveRecord::Base.connection_pool.stat[:connections]} connections"
  end

  def roll_back
    Entry.transaction do
      Entry.create!(name: "never")
      Crowd.wait("inserted", 2)
      Crowd.wait("counted", 2)
      raise ActiveRecord::Rollback
    end
    render plain: Entry.count
  end

  # While the transaction of roll_back is open.
  def count
    Crowd.wait("inserted", 2)
    seen = Entry.count
    Crowd.wait("counted", 2)
    render plain: seen
  end
end
