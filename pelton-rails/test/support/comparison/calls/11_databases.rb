# Several databases, replicas, shards and connected_to. Each line is a call.
application, library, sharded = Comparison::ApplicationRecord, Comparison::LibraryRecord, Comparison::ShardedRecord
Book.create!(title: "Fibers", author_id: 1)
Book.create!(title: "Threads")
Book.count
Book.first.author.name
Author.find(1).books.map(&:title)
Author.find(1).books.create!(title: "Loops").title
Book.where(author: Author.find(1)).order(:id).pluck(:title)
Author.preload(:books).find(1).books.size
Book.transaction { Book.create!(title: "never") && raise(ActiveRecord::Rollback) }
Book.exists?(title: "never")
Author.transaction { Book.create!(title: "kept") && raise(ActiveRecord::Rollback) }
Book.exists?(title: "kept")
error { Author.transaction { Book.transaction { Book.create!(title: "undone") && raise("wrong") } } }
Book.exists?(title: "undone")
Author.transaction { Book.connection.open_transactions }
application.current_role
application.current_shard
application.connected_to(role: :reading) { application.current_role }
application.connected_to(role: :reading) { Author.find(1).name }
application.connected_to(role: :reading) { Author.count.positive? }
error { application.connected_to(role: :reading) { Author.create!(name: "refused") } }
error { application.connected_to(role: :reading) { Author.where(id: 1).update_all(age: 1) } }.first
error { application.connected_to(role: :reading) { Author.connection.execute("DELETE FROM #{Author.table_name}") } }.first
Author.exists?(name: "refused")
application.connected_to(role: :reading) { application.connection_db_config.name }
application.connected_to(role: :writing) { application.connection_db_config.name }
application.connected_to(role: :reading) { application.connected_to(role: :writing) { Tag.create!(name: "inside").persisted? } }
application.connected_to(role: :reading) { application.connected_to(role: :writing) { 1 } && application.current_role }
Tag.where(name: "inside").destroy_all.size
application.current_role
error { application.connected_to(role: :reading) { raise "wrong" } }
application.current_role
application.connected_to?(role: :writing)
application.connected_to(role: :reading) { application.connected_to?(role: :reading) }
application.connected_to(role: :reading) { application.current_preventing_writes }
application.current_preventing_writes
application.while_preventing_writes { error { Tag.create!(name: "prevented") }.first }
Tag.exists?(name: "prevented")
application.while_preventing_writes(false) { Tag.create!(name: "allowed").destroy.destroyed? }
ActiveRecord::Base.connected_to(role: :reading) { Book.count.positive? }
ActiveRecord::Base.connected_to(role: :reading) { [application.current_role, library.current_role] }
error { ActiveRecord::Base.connected_to(role: :unknown) { Author.count } }.first
error { application.connected_to(shard: :unknown) { Author.count } }.first
ActiveRecord::Base.connected_to_many(application, library, role: :reading) { [application.current_role, library.current_role, sharded.current_role] }
library.connected_to(role: :reading) { [library.current_role, application.current_role] }
library.connected_to(role: :reading) { Book.first.title }
sharded.connected_to(shard: :one) { Item.create!(name: "in one").persisted? }
sharded.connected_to(shard: :two) { Item.create!([{name: "in two"}, {name: "in two as well"}]).size }
sharded.connected_to(shard: :one) { Item.order(:id).pluck(:name) }
sharded.connected_to(shard: :two) { Item.order(:id).pluck(:name) }
sharded.connected_to(shard: :one) { sharded.connected_to(shard: :two) { Item.count } + Item.count }
sharded.connected_to(shard: :one) { sharded.current_shard }
sharded.current_shard
%i[one two].map { |shard| sharded.connected_to(shard: shard) { [sharded.current_shard, Item.count] } }
sharded.connected_to(shard: :two, role: :reading) { Item.first.name }
sharded.connected_to(shard: :one, role: :reading) { error { Item.create!(name: "refused") }.first }
sharded.connected_to(shard: :one) { Item.transaction { Item.create!(name: "never") && raise(ActiveRecord::Rollback) } }
sharded.connected_to(shard: :one) { Item.count }
sharded.connected_to(shard: :two) { Item.find_by(name: "in two").update!(name: "moved") }
sharded.connected_to(shard: :two) { Item.order(:id).first.name }
sharded.connected_to(shard: :two) { Item.connection_db_config.name }
sharded.connected_to(shard: :one) { error { raise "wrong" } } && sharded.current_shard
sharded.prohibit_shard_swapping { error { sharded.connected_to(shard: :two) { Item.count } } }
sharded.shard_swapping_prohibited?
room { sharded.connected_to(shard: :two) { beside { sharded.current_shard } } }
room { application.connected_to(role: :reading) { beside { application.current_role } } }
application.connected_to(role: :reading) { Author.order(:id).load_async.first.name }
sharded.connected_to(shard: :two) { Item.order(:id).load_async.first.name }
sharded.connected_to(shard: :two) { Item.async_count.value }
application.connected_to(role: :reading) { Author.cache { queries { 2.times { Author.count } } } }
application.connected_to(role: :reading) { application.connection_pool.equal?(pool) }
application.connected_to(role: :reading) { Author.transaction { Author.count.positive? } }
application.connected_to(role: :reading) { Author.first.posts.first.class }
application.connecting_to(role: :reading) && application.current_role
application.connected_to_stack.size.positive? && application.connected_to_stack.pop.class
application.current_role
