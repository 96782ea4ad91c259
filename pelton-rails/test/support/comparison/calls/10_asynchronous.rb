# load_async and the asynchronous calculations. Each line is a call.
posts = Post.order(:id).load_async
posts.map(&:title)
posts.loaded?
posts.scheduled?
Post.order(:id).limit(2).load_async.to_a
Post.where(score: 3).load_async.first.title
Post.where(score: 10_000).load_async.to_a
Post.where(score: 10_000).load_async.first
Post.none.load_async.to_a
Post.async_count.value
Post.async_sum(:score).value
Post.async_minimum(:score).value
Post.async_maximum(:score).value
Post.async_average(:score).value.to_s
Post.async_pluck(:id).value.sort.first(3)
Post.order(:id).async_pluck(:id, :score).value.first(2)
Post.order(:id).async_pick(:title).value
Post.async_ids.value.sort.first(3)
Post.group(:author_id).async_count.value.sort_by(&:to_s)
Post.async_find_by_sql("SELECT id FROM #{Post.table_name} ORDER BY id LIMIT 2").value.map(&:id)
Post.async_count_by_sql("SELECT COUNT(*) FROM #{Post.table_name}").value
Post.async_count.then { |count| count * 2 }.value
loads = Array.new(3) { |number| Post.where(status: number).order(:id).load_async }
loads.map { |load| load.map(&:id) }
[Post.async_count, Author.async_count, Tag.async_count].map(&:value).map(&:class)
error { Post.where("no_such_column = 1").load_async.to_a }.first
error { Post.async_sum("no_such_column").value }.first
Post.includes(:author).order(:id).load_async.first.association(:author).loaded?
Post.where(author: Author.where(name: "Ann")).order(:id).load_async.map(&:id)
Post.transaction { Post.order(:id).load_async.first.title }
Post.transaction { Post.create!(title: "asynchronous") && Post.where(title: "asynchronous").load_async.to_a.size }
Post.transaction { Post.where(title: "asynchronous").load_async.first.destroy! && raise(ActiveRecord::Rollback) }
Post.where(title: "asynchronous").async_count.value
Post.where(title: "asynchronous").destroy_all.size
Pelton::ActiveRecord.with_connections { Post.order(:id).load_async.first.title }
Pelton::ActiveRecord.with_connections { [Post.async_count, Post.async_count].map(&:value).uniq.size }
queries { Pelton::ActiveRecord.with_connections { 2.times { Post.all.load_async.to_a } } }
Author.cache { 2.times.map { Post.order(:id).load_async.size }.uniq.size }
Book.all.load_async.to_a
Book.async_count.value
Post.order(:id).load_async.records.size
Post.count
Post.order(:id).load_async.inspect.size.positive?
Post.order(:id).load_async.limit(1).map(&:id)
Post.order(:id).load_async.reload.size
Post.count
Post.order(:id).load_async.pluck(:id).size
Post.count
Post.all.load_async.exists?
