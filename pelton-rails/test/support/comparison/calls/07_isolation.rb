# Isolation levels. Each line is a call; a database that has no such level answers with its error.
levels = %i[read_uncommitted read_committed repeatable_read serializable]
Group.delete_all
error { Group.transaction(isolation: :read_uncommitted) { Group.create!(name: "a") } }
error { Group.transaction(isolation: :read_committed) { Group.create!(name: "b") } }
error { Group.transaction(isolation: :repeatable_read) { Group.create!(name: "c") } }
error { Group.transaction(isolation: :serializable) { Group.create!(name: "d") } }
error { Group.transaction(isolation: :unknown) { Group.count } }
Group.order(:name).pluck(:name)
levels.map { |level| error { Group.transaction(isolation: level) { raise ActiveRecord::Rollback } } }
levels.map { |level| error { Group.transaction(isolation: level) { Group.create!(name: "never") && raise("wrong") } } }
error { Group.transaction { Group.transaction(isolation: :read_committed) { Group.count } } }
error { Group.transaction { Group.transaction(requires_new: true, isolation: :read_committed) { Group.count } } }
error { Group.transaction(isolation: :read_committed) { Group.transaction { Group.count } } }
error { Group.transaction(isolation: :read_committed) { Group.transaction(requires_new: true) { Group.count } } }
room { error { Group.transaction(isolation: :repeatable_read) { Group.count && beside { Group.count } } } }
room { error { Group.transaction(isolation: :read_committed) { Group.count } } }
seen = ->(level) { Group.transaction(isolation: level) { [Group.count, beside { Group.create!(name: level.to_s) }, Group.uncached { Group.count }].values_at(0, 2) } }
room { error { raise seen.call(:repeatable_read).inspect } }
room { error { raise seen.call(:read_committed).inspect } }
Group.connection.supports_transaction_isolation?
levels.map { |level| error { Group.transaction(isolation: level) { Group.count } } }
Group.connection.open_transactions
Group.order(:name).pluck(:name)
