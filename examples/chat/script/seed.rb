# frozen_string_literal: true

# Fills an empty database with a believable data set, the same each time: 200 users, 30 rooms, 20,000 messages of six
# weeks. All users have the password "correct horse battery"; user1@example.com is an administrator.
#
#   bundle exec ruby script/seed.rb [USERS ROOMS MESSAGES]
require_relative "../config/application"

Chat.boot!

# Chooses by a fixed seed.
class Seed
  PASSWORD = "correct horse battery"
  START = Time.utc(2026, 9, 14, 8)
  WEEKS = 6
  FIRST =
    %w[Ada Ben Chloe Dan Elif Finn Grace Hugo Ines Jonas Kaya Leo Mia Noor Omar Petra Quinn Rosa Sam Tara Uma Vera Wim
      Xenia Yusuf Zoe Aiko Bram Carla Dina Emil Farah Gus Hana Ivo Jana Kofi Lena Marek Nina].freeze
  LAST =
    %w[Adler Brandt Costa Dubois Eriksen Fischer Garcia Hansen Ito Jansen Kowalski Lindgren Moreau Novak Okafor Patel
      Quist Rossi Silva Tanaka].freeze
  ROOMS = %w[General Random Design Frontend Backend Infrastructure Support Sales Marketing Hiring Security Mobile Data
    Research Product Releases Incidents Docs Onboarding Lunch Books Music
    Running Photography Gardening Travel Board\ games Recipes Pets Announcements].freeze
  SENTENCES = [
    "Morning! Did anyone see the %<thing>s this weekend?", "The %<thing>s is green again.",
    "I think the %<thing>s needs a second look before we ship.",
    "Can somebody review https://example.com/pull/%<number>d please?",
    "@%<handle>s could you check the %<thing>s?", "Done. It took %<number>d ms before and a tenth of that now.",
    "Thanks, that fixed it!", "Lunch at %<hour>d?", "No idea, but the logs say `%<code>s`.",
    "The %<thing>s fails with\n```\n%<code>s\nexit 1\n```\nSince this morning.", "+1",
    "Let us move the %<thing>s to next week.", "I wrote it down: https://example.com/notes/%<number>d",
    "That was me, sorry. Reverted.",
    "Who is on call tonight?", "@%<handle>s happy birthday! 🎉",
    "We have %<number>d open tickets, most of them about the %<thing>s.", "Looks good to me 👍", "I am out on Friday.",
    "Nice one.", "The customer asked again about the %<thing>s. I told them we would answer by %<hour>d o'clock.",
    "Is it only me, or is the %<thing>s slow today?"
  ].freeze
  THINGS = ["build", "deploy", "search page", "login form", "cache", "release plan", "database", "coffee machine",
    "invoice export", "test suite", "sidebar", "onboarding guide", "load balancer", "mobile layout", "backup",
    "dashboard"].freeze
  CODE = ["bundle exec rake test", "SELECT count(*) FROM messages", "git rebase --onto main",
    "curl -sf localhost:9292", "ERROR: deadlock detected", "user.rooms.order(:name)"].freeze

  def initialize(users, rooms, messages)
    @random = Random.new(42)
    @sizes = {users: users, rooms: rooms, messages: messages}
  end

  def run
    DB.transaction do
      @users = users
      @rooms = rooms
      members
      messages
      reactions
    end
  end

  private

  def pick(list) = list[@random.rand(list.size)]

  def stamps(time = START) = {created_at: time, updated_at: time}

  def insert(model, rows) = rows.each_slice(500) { |some| model.multi_insert(some) }

  # The first names of a round are all different, so names are, too, up to 800.
  def users
    digest = Pelton::Web::Password.digest(PASSWORD)
    insert(User, Array.new(@sizes[:users]) do |number|
      name =
        "#{FIRST[number % FIRST.size]} " \
        "#{LAST[(number / FIRST.size + number) % LAST.size]}#{" #{number}" if number >= 800}"
      {name: name, name_key: User.name_key(name), handle: name.downcase.tr(" ", "."),
       email: "user#{number + 1}@example.com", password_digest: digest, role: number.zero? ? 1 : 0, **stamps}
    end)
    User.order(:id).select_map([:id, :handle])
  end

  def rooms
    insert(Room,
      Array.new(@sizes[:rooms]) do |number|
        {name: ROOMS[number % ROOMS.size], kind: (number % 7 == 5) ? 1 : 0, creator_id: @users.first.first, **stamps}
      end)
    Room.order(:id).select_map(:id)
  end

  # Everybody is in the first rooms, and in some of the others.
  def members
    @members = @rooms.each_with_index.to_h do |room, number|
      [room, @users.select { |user, _| number < 3 || user == @users.first.first || @random.rand(3).zero? }]
    end
    insert(Membership,
      @members.flat_map { |room, list| list.map { |user, _| {room_id: room, user_id: user, **stamps} } })
  end

  def messages
    step = WEEKS * 7 * 86_400 / @sizes[:messages]
    insert(Message, Array.new(@sizes[:messages]) do |number|
      room = @rooms[[@random.rand(@rooms.size), @random.rand(@rooms.size)].min] # the first ones are busier
      {room_id: room, user_id: pick(@members[room]).first, text: text(room), client_id: "seed-#{number}",
       **stamps(START + number * step + @random.rand(step))}
    end)
    last = Message.group(:room_id).select_hash(:room_id, Sequel.function(:max, :id).as(:last))
    last.each do |room, id|
      Room.where(id: room).update(last_message_id: id)
      Membership.where(room_id: room).update(read_message_id: id) if @random.rand(3).positive?
    end
  end

  def text(room)
    Array.new([1, 1, 1, 2, 2, 3, 5][@random.rand(7)]) do
      format(pick(SENTENCES), thing: pick(THINGS), number: @random.rand(2..990), hour: @random.rand(11..17),
        code: pick(CODE), handle: pick(@members[room]).last)
    end.join(" ")
  end

  def reactions
    some = Message.order(:id).select_map([:id, :room_id]).select { @random.rand(12).zero? }
    rows = some.flat_map do |id, room|
      Array.new(@random.rand(1..4)) do
        {message_id: id, user_id: pick(@members[room]).first, emoji: pick(Reaction::CHOICE), **stamps}
      end
    end
    insert(Reaction, rows.uniq { |row| row.values_at(:message_id, :user_id, :emoji) })
  end
end

Seed.new(*(ARGV.empty? ? [200, 30, 20_000] : ARGV.map { |text| Integer(text) })).run
