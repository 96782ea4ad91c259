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
      other = Pelton.spawn { batch.join(bob.id) }
      Pelton::Reactor.current.yield
      sent = queries do
        batch.start

        assert_equal [ann, bob], [batch.wait(ann.id), other.await]
      end

      assert_equal 1, sent.size
    end
  end

  def test_a_text_that_the_rows_do_not_have_is_asked_for_alone
    people
    Pelton.run do
      batch = Batch.new(Author, :email, "ann@example.com")
      other = Pelton.spawn { batch.join("nobody") }
      Pelton::Reactor.current.yield
      sent = queries do
        batch.start

        assert_equal [ann, nil], [batch.wait("ann@example.com"), other.await]
      end

      assert_equal 2, sent.size
    end
  end
end
