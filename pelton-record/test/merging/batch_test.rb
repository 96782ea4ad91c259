# frozen_string_literal: true

require "test_helper"
require_relative "../support/blog"

class BatchTest < PeltonTest
  include Blog

  Batch = Pelton::Record::Merging::Batch

  def test_a_batch_of_one_is_alone
    assert_predicate Batch.new(Author, :id, 1), :alone?
  end

  def test_those_who_join_share_a_query
    people
    Pelton.run do
      batch = Batch.new(Author, :id, ann.id)
      other = Pelton.spawn { batch.join(bob.id, -> { flunk }) }
      Pelton::Reactor.current.yield
      sent = queries do
        batch.start

        assert_equal [ann, bob], [batch.wait(ann.id, -> { flunk }), other.await]
      end

      assert_equal 1, sent.size
    end
  end

  def test_a_text_that_the_rows_do_not_have_is_asked_for_alone
    Pelton.run do
      batch = Batch.new(Author, :email, "a")
      other = Pelton.spawn { batch.join("b", -> { :alone }) }
      Pelton::Reactor.current.yield
      batch.start

      assert_equal [:mine, :alone], [batch.wait("a", -> { :mine }), other.await]
    end
  end
end
