# frozen_string_literal: true

require_relative "../support/sequel_databases"

class PeltonResumableStreamsTest < PeltonTest
  include SequelDatabases

  def setup
    super
    @database = connect
    @database.create_table(:messages) do
      primary_key :id
      String :content, text: true
      Integer :content_run, null: false, default: 0
      String :content_state, null: false, default: "waiting"
      String :content_error
      DateTime :content_alive_at
    end
    @model = Class.new(Sequel::Model(@database[:messages])) do
      plugin :pelton_resumable_streams
      resumable_stream :content
    end
  end

  def test_a_column_is_written_and_followed
    message = @model.create
    Pelton.run do
      assert message.content_stream.write { |out| %w[Hel lo].each { |piece| out << piece } }
      events = []
      message.content_stream.follow(after: "1:3") { |event| events << [event.type, event.text] }

      assert_equal [[:append, "lo"], [:finished, ""]], events
    ensure
      Pelton.stop
    end

    assert_equal({content: "Hello", content_state: "finished", content_run: 1},
      message.refresh.values.slice(:content, :content_state, :content_run))
    assert_equal "messages:#{message.id}:content", message.content_stream.name
  end

  def test_a_writer_that_has_died
    message = @model.create(content: "half", content_run: 1, content_state: "running", content_alive_at: Time.now - 60)

    assert_equal "interrupted", message.content_stream.snapshot.state
    message.update(content_alive_at: Time.now)

    assert_equal "running", message.content_stream.snapshot.state
  end

  def test_a_row_that_is_gone
    message = @model.create
    message.destroy

    assert_nil message.content_stream.snapshot
    refute message.content_stream.cancel
  end

  def test_an_object_that_is_not_saved_has_no_stream
    assert_match(/save the/, assert_raises(ArgumentError) { @model.new.content_stream }.message)
  end
end
