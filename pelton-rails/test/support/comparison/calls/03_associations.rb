# has_many, belongs_to, has_one, through, polymorphic, nested attributes, STI. Each line is a call.
ann = Author.find_by!(name: "Ann")
bob = Author.find_by!(name: "Bob")
ann.posts.count
ann.posts.size
ann.posts.length
ann.posts.map(&:title)
ann.posts.loaded?
ann.posts.reset.loaded?
ann.posts.first
ann.posts.last.title
ann.posts.where(score: 0).count
ann.posts.pluck(:score)
ann.post_ids
ann.posts.create!(title: "built")
ann.reload.posts_count
ann.posts.build(title: "unsaved").new_record?
ann.posts.size
ann.save
ann.posts.count
error { ann.posts.create!(title: "") }
ann.posts << Post.new(title: "pushed")
ann.posts.reload.last.title
ann.posts.find_by(title: "pushed").author_id
ann.posts.include?(Post.find_by(title: "pushed"))
ann.posts.exists?(title: "pushed")
ann.posts.any?
ann.posts.empty?
ann.posts.delete(Post.find_by(title: "pushed"))
Post.find_by(title: "pushed")
ann.posts.destroy(Post.find_by(title: "unsaved"))
ann.posts.find_by(title: "built").destroy
ann.reload.posts_count
Author.reset_counters(ann.id, :posts)
ann.reload.posts_count
Post.find(1).author
Post.find(1).author.name
post = Post.find(1)
post.author = bob
post.save
post.reload.author.name
[ann.reload.posts_count, bob.reload.posts_count]
post.update(author: ann)
post.author_changed?
post.author_previously_changed?
post.build_author(name: "Zoe").new_record?
post.reload.author.name
post.create_author(name: "Zoe").persisted?
post.save
post.reload.author.name
post.update(author: nil)
post.reload.author
post.update(author_id: ann.id)
post.author.name
post.reload_author.name
queries { post.author }
queries { post.reset_author && post.author }
ann.create_profile!(text: "about Ann")
ann.profile.text
ann.reload.profile.text
ann.build_profile(text: "new").persisted?
ann.reload.profile
ann.create_profile!(text: "again").text
Profile.count
ann.latest_post.title
ann.update(profile_attributes: {id: ann.reload.profile.id, text: "nested"})
ann.reload.profile.text
ann.update(posts_attributes: [{title: "nested one"}, {title: "nested two"}])
ann.posts.reload.last(2).map(&:title)
ann.update(posts_attributes: [{id: ann.posts.last.id, _destroy: true}])
ann.posts.reload.last.title
ann.update(posts_attributes: [{title: ""}])
ann.errors.full_messages
ann.reload.posts.find_by(title: "nested one").destroy.destroyed?
group = Group.create!(name: "writers")
ann.groups << group
ann.groups.reload.map(&:name)
group.authors.map(&:name)
group.memberships.count
bob.group_ids = [group.id]
group.reload.authors.order(:name).map(&:name)
bob.groups.delete(group)
bob.groups.count
ann.groups.create!(name: "readers")
ann.groups.order(:name).pluck(:name)
ann.groups.clear
Membership.count
first = Post.find(1)
first.comments.create!(text: "one")
first.comments.create!([{text: "two"}, {text: "three"}])
first.comments.map(&:text)
Comment.first.subject.title
Comment.first.subject_type
Comment.where(subject: first).count
Comment.create!(text: "on Bob", subject: bob).subject.name
ann.comments.order(:id).pluck(:text)
ann.comments.count
Author.joins(:comments).distinct.pluck(:name)
Comment.includes(:subject).order(:id).map { |comment| comment.subject.class }
first.tags << Tag.create!(name: "ruby")
first.tags << Tag.create!(name: "fibers")
first.tags.order(:name).pluck(:name)
Tag.find_by(name: "ruby").posts.map(&:title)
first.tag_ids.size
first.tags.delete(Tag.find_by(name: "ruby"))
first.tags.reload.map(&:name)
first.tags = Tag.order(:id).to_a
first.tags.size
bob.update(mentor: ann)
bob.mentor.name
ann.pupils.map(&:name)
Author.where(mentor: ann).pluck(:name)
Author.includes(:pupils).order(:name).map { |author| author.pupils.size }
temporary = Author.create!(name: "Temporary", posts: [Post.new(title: "a"), Post.new(title: "b")], profile: Profile.new(text: "x"))
temporary.posts.count
temporary.pupils << Author.create!(name: "Pupil")
temporary.destroy
[Post.where(title: %w[a b]).count, Profile.where(text: "x").count, Author.find_by(name: "Pupil").mentor_id]
Author.find_by(name: "Pupil").destroy
Car.create!(name: "beetle")
Boat.create!(name: "dinghy")
Boat.create!(name: "wreck", broken: true)
Vehicle.order(:id).map(&:class)
Vehicle.order(:id).pluck(:type)
Car.first.sound
Car.count
Boat.count
Boat.unscoped.count
Boat.find_by(name: "wreck")
Vehicle.find_by(name: "wreck").class
error { Car.find(Boat.first.id) }
Vehicle.find(Car.first.id).becomes(Boat).class
Boat.unscoped { Boat.count }
ann.association(:posts).reader.class.superclass
ann.posts.scope.count
ann.posts.klass
Post.reflect_on_association(:author).macro
Author.reflect_on_all_associations.map(&:name)
Author.where(id: ann.id).includes(posts: :comments).first.posts.first.comments.map(&:text)
queries { Author.includes(posts: :comments).to_a.flat_map(&:posts).flat_map(&:comments).size }
Author.eager_load(:posts).order(:name).map { |author| author.posts.size }
ActiveRecord::Associations::Preloader.new(records: [ann.reload], associations: :posts).call.size
