# frozen_string_literal: true

# The messages of a room's page, in groups of neighbours, each of which is kept as one fragment. Messages are read only
# if a fragment is missing. A group begins at an id that is a multiple of {Message::GROUP}, so groups stay the same
# while messages come and go: a new message changes the last one, and the first, which it pushes out of the page.
class MessageList
  # Neighbours.
  #
  # @!attribute key
  #   @return [Array] changes with each of them
  Group = Struct.new(:list, :ids, :key) do
    def messages = list.messages.slice(*ids).values
  end

  # A message's id, and what changes with it: the time is only compared, so it stays text.
  VERSION = [:id, Sequel.cast(:updated_at, String).as(:version)].freeze

  # Of a room, before an id. The statement of most pages is put together once.
  NEWEST = Sequel::Dataset::PlaceholderLiteralizer.loader(Message.naked) do |argument, messages|
    messages.where(room_id: argument.arg).where(Sequel[:id] < argument.arg).reverse(:id).limit(Message::PAGE + 1)
      .select(*VERSION)
  end
  private_constant :VERSION, :NEWEST

  # @param before [Integer, nil] only messages before this one
  def initialize(room, before: nil)
    @room = room
    @before = before
  end

  # @return [Array<Group>] oldest first
  def groups
    rows.slice_before { |id, _| (id % Message::GROUP).zero? }.map do |group|
      Group.new(self, group.map(&:first), ["messages", *group.flatten])
    end
  end

  # @return [Integer, nil] the id of its first message, if there are older ones
  def older
    first, = rows.first
    first if @more
  end

  # @return [Hash{Integer => Message}]
  def messages
    @messages ||= Message.where(id: rows.map(&:first)).order(:id).eager(:user, :reactions,
      :attachment).all.to_h { |message| [message.id, message] }
  end

  private

  def rows
    @rows ||= begin
      found = NEWEST.all(@room.id, @before || 2**62).map(&:values).reverse
      @more = found.size > Message::PAGE
      found.last(Message::PAGE)
    end
  end
end
