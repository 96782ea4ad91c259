# frozen_string_literal: true

require_relative "../support/blog"

class PolymorphicTest < PeltonTest
  include Blog

  def test_any_model
    post = Post.create!(title: "x", author: ann)
    notes = [ann, post].map { |notable| Note.create!(notable: notable, text: "n") }

    assert_equal [["Blog::Author", ann.id], ["Blog::Post", post.id]], notes.map { |note| [note.notable_type, note.notable_id] }
    assert_equal [ann, post], notes.map { |note| Note.find(note.id).notable }
    assert_equal [notes[0]], ann.notes.to_a
    assert_equal [notes[1]], Note.where(notable: post).to_a
    assert_equal notes, Note.where(notable: [ann, post]).order(:id).to_a
    assert_equal [ann, post], Note.includes(:notable).order(:id).map(&:notable)
    assert_equal ["Blog::Author", ann.id], ann.notes.build.then { |note| [note.notable_type, note.notable_id] }
  end

  def test_none
    assert_equal ["Notable must exist"], Note.new.tap(&:valid?).errors.full_messages
    assert_nil Note.new.notable
  end

  def test_a_name_in_the_database_must_be_a_model
    note = Note.create!(notable: ann, text: "n")
    Note.where(id: note.id).update_all(notable_type: "Kernel")

    assert_match(/"Kernel" is no model/, assert_raises(Pelton::Record::Error) { Note.find(note.id).notable }.message)
  end
end
