# Finders, conditions, orders and calculations. Each line is a call.
10.times { |number| Post.create!(title: "post #{number}", score: number * 3, status: number % 3, author_id: 1 + number % 2) }
Post.count
Post.find(1)
Post.find(1, 2)
Post.find([3, 1])
Post.find([])
error { Post.find(999) }
error { Post.find(1, 999) }
error { Post.find(nil) }
Post.find("2").id
Post.find("2 and more").id
Post.find_by(title: "post 3")
Post.find_by(title: "none")
Post.find_by(title: "post 3", score: 9).id
Post.find_by("score > ?", 20).score
error { Post.find_by!(title: "none") }
Post.find_by_title("post 4").id
Post.find_by_title_and_score("post 4", 12).id
Post.first
Post.last
Post.first(2).map(&:id)
Post.last(2).map(&:id)
Post.order(:score).second.id
Post.order(:score).third.id
Post.order(:score).fifth.id
Post.order(:id).take.id
Post.order(:id).take(2).map(&:id)
Post.where(score: 100).first
error { Post.where(score: 100).first! }
error { Post.where(score: 100).take! }
error { Post.order(:id).sole && 1 }
Post.where(title: "post 1").sole.id
Post.find_sole_by(title: "post 2").id
error { Post.find_sole_by(title: "none") }
Post.where(score: [3, 6]).order(:id)
Post.where(score: 3..9).order(:id).pluck(:id)
Post.where(score: 3...9).order(:id).pluck(:id)
Post.where(score: 20..).order(:id).pluck(:id)
Post.where(score: nil).count
Post.where.not(score: 3).count
Post.where(score: 3).or(Post.where(score: 6)).order(:id).pluck(:id)
Post.where(score: 3).and(Post.where(author_id: 2)).pluck(:id)
Post.where("title LIKE ?", "post%").count
Post.where("score BETWEEN :low AND :high", low: 3, high: 9).order(:id).pluck(:id)
Post.where(author_id: Author.where(name: "Ann").select(:id)).order(:id).pluck(:id)
Post.where(score: 3).invert_where.count
Post.rewhere(score: 3).count
Post.where(score: 3).rewhere(score: 6).pluck(:id)
Post.where(score: 3).unscope(:where).count
Post.unscoped.count
Post.none.to_a
Post.none.count
Post.order(score: :desc).limit(2).pluck(:score)
Post.order(score: :desc).offset(2).limit(2).pluck(:score)
Post.order(:id).reverse_order.limit(1).pluck(:id)
Post.order(:id).reorder(score: :desc).limit(1).pluck(:id)
Post.in_order_of(:id, [3, 1, 2]).pluck(:id)
Post.select(:id, :title).order(:id).first.attributes
error { Post.select(:id).order(:id).first.title }
Post.select("score * 2 AS twice").order(:id).second.twice
Post.distinct.pluck(:author_id).sort
Post.group(:author_id).count.sort
Post.group(:author_id).sum(:score).sort
Post.group(:author_id).having("SUM(score) > 60").count
Post.group(:status).order(:status).count
Post.sum(:score)
Post.average(:score).to_s
Post.minimum(:score)
Post.maximum(:score)
Post.pluck(:id, :score).sort.first(2)
Post.order(:id).pick(:title)
Post.ids.sort
Post.exists?
Post.exists?(1)
Post.exists?(title: "none")
Post.where(score: 3).any?
Post.where(score: 100).none?
Post.where(title: "post 1").one?
Post.many?
Post.where(score: 3).empty?
Post.order(:id).find_each(batch_size: 3).map(&:id)
Post.find_in_batches(batch_size: 4).map(&:size)
Post.in_batches(of: 4).map(&:count)
Post.in_batches(of: 5).update_all("score = score + 0")
Post.popular.count
Author.adult.order(:name).pluck(:name)
Author.named("Ann").adult.count
Post.published.count
Post.statuses
Post.find(1).draft?
Post.find(1).status
Post.not_draft.count
Post.where(status: :archived).count
error { Post.new(status: :unknown) }
Post.extending(Module.new { def twice = count * 2 }).twice
error { Post.joins(:author).where(authors: {name: "Ann"}).count }
Post.joins(:author).merge(Author.named("Ann")).count
Post.left_outer_joins(:comments).distinct.count
Post.where.missing(:comments).count
Post.where.associated(:author).count
Post.includes(:author).order(:id).map { |post| post.author&.name }
Post.preload(:author).order(:id).first.association(:author).loaded?
Post.eager_load(:author).order(:id).first.association(:author).loaded?
queries { Post.includes(:author).to_a }
queries { Post.all.each(&:author) }
Post.strict_loading.first.strict_loading?
error { Post.strict_loading.first.author }
error { Post.first.tap(&:readonly!).save! }
Post.readonly.first.readonly?
Post.find_by_sql("SELECT id FROM #{Post.table_name} WHERE score > 20 ORDER BY id").map(&:id)
Post.count_by_sql("SELECT COUNT(*) FROM #{Post.table_name}")
Post.connection.select_value("SELECT MAX(score) FROM #{Post.table_name}").to_i
Post.with_connection { |connection| connection.select_rows("SELECT id, score FROM #{Post.table_name} ORDER BY id LIMIT 2") }
Post.with_connection { |connection| connection.select_values("SELECT title FROM #{Post.table_name} ORDER BY id LIMIT 2") }
error { Post.where("no_such_column = 1").to_a }.first
error { Post.order("id; DROP TABLE x").to_a }.first
error { Post.find(2**70) }
Post.where(id: 2**70).to_a
Post.find_by(id: 2**70)
Post.where(title: "x' OR '1'='1").to_a
error { Post.where(score: Object.new).to_a }
Post.all.load.loaded?
Post.limit(2).to_a.size
Post.order(:id).excluding(Post.find(1)).count
Post.in_order_of(:status, %w[archived draft]).first.status
Post.annotate("a comment").count
Post.where(id: 1).explain.inspect.size.positive?
