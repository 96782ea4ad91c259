# Transactions, savepoints, rollbacks and what is seen meanwhile. Each line is a call.
names = -> { Tag.order(:name).pluck(:name) }
Tag.delete_all
Tag.transaction { Tag.create!(name: "a") }
names.call
Tag.transaction { :value }
Tag.transaction { raise ActiveRecord::Rollback }
Tag.transaction { Tag.create!(name: "b") && raise(ActiveRecord::Rollback) }
names.call
error { Tag.transaction { Tag.create!(name: "b") && raise("wrong") } }
names.call
Tag.transaction { Tag.create!(name: "b") && Tag.transaction { Tag.create!(name: "c") } }
names.call
Tag.transaction { Tag.create!(name: "d") && Tag.transaction { raise ActiveRecord::Rollback } }
names.call
Tag.transaction { Tag.create!(name: "e") && Tag.transaction(requires_new: true) { Tag.create!(name: "f") && raise(ActiveRecord::Rollback) } }
names.call
Tag.transaction { Tag.transaction(requires_new: true) { Tag.create!(name: "g") } && raise(ActiveRecord::Rollback) }
names.call
error { Tag.transaction { Tag.transaction(requires_new: true) { Tag.create!(name: "h") && raise("inner") } } }
names.call
Tag.transaction { [error { Tag.transaction(requires_new: true) { raise "inner" } }, Tag.create!(name: "i").name] }
names.call
Tag.transaction { 3.times.map { |level| Tag.transaction(requires_new: true) { Tag.create!(name: "j#{level}").name } } }
names.call
Tag.transaction(requires_new: true) { Tag.create!(name: "k").name }
Tag.transaction(joinable: false) { Tag.transaction { Tag.create!(name: "l") && raise(ActiveRecord::Rollback) } && Tag.create!(name: "m").name }
names.call
Tag.transaction { Tag.connection.open_transactions }
Tag.transaction { Tag.transaction(requires_new: true) { Tag.connection.open_transactions } }
Tag.connection.open_transactions
Tag.connection.transaction_open?
Tag.transaction { Tag.connection.transaction_open? }
tag = Tag.create!(name: "kept")
Tag.transaction { tag.update!(name: "changed") && raise(ActiveRecord::Rollback) }
tag.name
tag.reload.name
fresh = Tag.new(name: "fresh")
Tag.transaction { fresh.save! && raise(ActiveRecord::Rollback) }
[fresh.id, fresh.new_record?]
fresh.save
fresh.persisted?
Tag.transaction { fresh.destroy! && raise(ActiveRecord::Rollback) }
[fresh.destroyed?, fresh.frozen?, Tag.exists?(name: "fresh")]
Tag.transaction { Author.create!(name: "in a transaction") && Tag.create!(name: "too") && raise(ActiveRecord::Rollback) }
[Author.exists?(name: "in a transaction"), Tag.exists?(name: "too")]
done = []
Tag.transaction { |transaction| transaction.after_commit { done << :committed } and Tag.create!(name: "n") and done.dup }
Tag.transaction { |transaction| transaction.after_rollback { done << :rolled_back } and Tag.create!(name: "never") and raise(ActiveRecord::Rollback) }
Tag.current_transaction.open?
Tag.transaction { Tag.current_transaction.open? }
Tag.transaction { |transaction| transaction.uuid.size }
ActiveRecord.after_all_transactions_commit { done << :at_once }
Tag.transaction { ActiveRecord.after_all_transactions_commit { done << :afterwards } and Tag.create!(name: "o") and done.last }
room { Tag.transaction { Tag.create!(name: "unseen") && beside { Tag.exists?(name: "unseen") } } }
room { Tag.transaction { Tag.count && beside { Tag.count.positive? } } }
Tag.exists?(name: "unseen")
error { Tag.transaction { Author.create!(name: "Ann") } }.first
Tag.transaction { error { Tag.transaction(requires_new: true) { Author.create!(name: "Ann") } }.first.tap { Tag.create!(name: "after the error") } }
Tag.exists?(name: "after the error")
Tag.transaction { [1, 2].each { |n| break n } }
catch(:out) { Tag.transaction { Tag.create!(name: "thrown") && throw(:out, :value) } }
Tag.exists?(name: "thrown")
-> { Tag.transaction { Tag.create!(name: "returned") && (next :value) } }.call
Tag.exists?(name: "returned")
tag.with_lock { tag.update!(name: "locked") }
tag.reload.name
error { Tag.transaction { Tag.create!(name: "too late") && Timeout.timeout(0.01) { sleep } } }
Tag.exists?(name: "too late")
Tag.connection.transaction { Tag.create!(name: "by the connection").name }
Tag.exists?(name: "by hand")
Tag.connection.open_transactions
names.call
