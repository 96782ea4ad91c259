# frozen_string_literal: true

# Fills the database with a believable data set, the same each time: 30 rooms, 200 users, 20,000 messages.
# All users have the password "correct horse battery"; user1@example.com is an administrator.
#
#   bundle exec pelton db migrate && bundle exec ruby script/seed.rb
require_relative "../config/application"

Chat.boot!
random = Random.new(42)
users, rooms, messages = (ARGV.empty? ? [200, 30, 20_000] : ARGV.map { |text| Integer(text) })
words = %w[the a we you it build page query server deploy tea lunch green red slow fast fix test cache fiber loop chat today tomorrow maybe please thanks looks good broken again]
start = Time.utc(2026, 1, 1)
digest = Pelton::Web::Password.digest("correct horse battery")

Pelton::Record.database.transaction do
  User.insert_all(Array.new(users) { |n| {name: "User #{n + 1}", email: "user#{n + 1}@example.com", password_digest: digest, role: n.zero? ? 1 : 0, created_at: start, updated_at: start} })
  ids = User.order(:id).pluck(:id)
  Room.insert_all(Array.new(rooms) { |n| {name: "Room #{n + 1}", creator_id: ids.first, created_at: start, updated_at: start} })
  rooms = Room.order(:id).pluck(:id)
  Membership.insert_all(rooms.flat_map { |room| ids.map { |user| {room_id: room, user_id: user, created_at: start, updated_at: start} } })
  Array.new(messages) do |n|
    time = start + n * 60
    text = Array.new(random.rand(3..40)) { words.sample(random: random) }.join(" ")
    {room_id: rooms.sample(random: random), user_id: ids.sample(random: random), text: text, client_id: format("seed-%d", n), created_at: time, updated_at: time}
  end.each_slice(500) { |slice| Message.insert_all(slice) }
  Message.group(:room_id).maximum(:id).each { |room, id| Room.where(id: room).update_all(last_message_id: id) }
end
