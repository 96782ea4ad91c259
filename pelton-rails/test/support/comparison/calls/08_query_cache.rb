# The query cache. Each line is a call.
queries { 2.times { Author.count } }
queries { Author.cache { 2.times { Author.count } } }
queries { Author.cache { 2.times { Author.find_by(name: "Ann") } } }
queries { Author.cache { 2.times { Author.find(1) } } }
queries { Author.cache { 2.times { Author.where(name: "Ann").to_a } } }
queries { Author.cache { 2.times { Author.pluck(:name) } } }
queries { Author.cache { 2.times { Author.sum(:age) } } }
queries { Author.cache { 2.times { Author.exists?(1) } } }
queries { Author.cache { Author.find(1) && Author.find(2) } }
queries { Author.cache { 2.times { Author.uncached { Author.count } } } }
queries { Author.cache { Author.count && Author.where(id: 0).update_all(age: 1) && Author.count } }
queries { Author.cache { Author.count && Tag.create!(name: "cache") && Author.count } }
queries { Author.cache { Author.count && Tag.where(name: "cache").delete_all && Author.count } }
queries { Author.cache { 2.times { Author.transaction { Author.count } } } }
queries { Author.cache { 2.times { Author.lock.first } } }
queries { Author.cache { 2.times { Author.first.posts.to_a } } }
queries { Author.cache { 2.times { Post.find(2).author } } }
queries { Author.cache { 2.times { Post.includes(:author).to_a } } }
queries { Author.cache { Author.cache { Author.count } && Author.count } }
queries { Author.cache { Author.connection.clear_query_cache } }
queries { Author.cache { Author.count && Author.connection.clear_query_cache && Author.count } }
queries { Author.cache { 2.times { Author.connection.select_value("SELECT 1") } } }
queries { Author.cache { 2.times { Book.count } } }
queries { Book.cache { 2.times { Book.count } } }
Author.cache { Author.connection.query_cache_enabled }
Author.connection.query_cache_enabled
Author.cache { Author.uncached { Author.connection.query_cache_enabled } }
Author.cache { Author.find(1).equal?(Author.find(1)) }
Author.cache { Author.find(1).eql?(Author.find(1)) }
Author.cache { Author.find(1).tap { |author| author.name << "!" } && Author.find(1).name }
Author.cache { Author.pluck(:name).tap(&:clear) && Author.pluck(:name).any? }
Author.cache { Author.create!(name: "cached") && Author.exists?(name: "cached") }
Author.cache { Author.find_by(name: "cached").destroy && Author.exists?(name: "cached") }
queries { Pelton::ActiveRecord.with_connections { 2.times { Author.count } } }
queries { Pelton::ActiveRecord.with_connections { 2.times { Author.find(1) } } }
queries { 2.times { Pelton::ActiveRecord.with_connections { Author.count } } }
queries { Pelton::ActiveRecord.with_connections { Author.count && Tag.create!(name: "x").destroy && Author.count } }
Pelton::ActiveRecord.with_connections { Author.connection.query_cache_enabled }
Author.cache { room { beside { Author.connection.query_cache_enabled } } }
room { queries { Author.cache { Author.count && beside { Author.count } && Author.count } } }
error { Author.cache { raise "wrong" } }
Author.connection.query_cache_enabled
Author.cache { 3.times.map { Author.count }.uniq.size }
