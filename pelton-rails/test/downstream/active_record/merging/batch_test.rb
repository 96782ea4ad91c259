# frozen_string_literal: true

require_relative "../../../support/merging_program"

class ActiveRecordMergingBatchTest < PeltonTest
  include MergingProgram

  BATCH = <<~RUBY
    batch = Pelton::ActiveRecord::Merging::Batch.new(Person, ["id", Person.connection_pool], BASE)
  RUBY

  def test_a_batch_of_one_is_alone
    assert_equal "true\n", merging_output("#{BATCH}\np batch.alone?")
  end

  def test_those_who_join_share_a_query_and_a_row_that_is_missing_is_nil
    assert_equal "[\"p0\", \"p1\", nil, 1, false]\n", merging_output(<<~RUBY)
      #{BATCH}
      others = [BASE + 1, 0].map { |id| Pelton.spawn { batch.join(id)&.email } }
      Pelton::Reactor.current.yield
      SENT.clear
      batch.start
      p [batch.wait(BASE).email, *others.map(&:await), SENT.size, batch.alone?]
    RUBY
  end

  def test_a_pool_without_connections_is_the_error_of_all
    assert_equal "[ActiveRecord::ConnectionTimeoutError, ActiveRecord::ConnectionTimeoutError]\n",
      merging_output(<<~RUBY, pool: 1, checkout_timeout: 0.1)
        #{BATCH}
        holder = Pelton.spawn(transient: true) { Person.lease_connection && sleep }
        sleep 0.001 until Person.connection_pool.stat[:busy] == 1
        other = Pelton.spawn { batch.join(BASE) }
        Pelton::Reactor.current.yield
        batch.start
        p [(batch.wait(BASE) rescue $!.class), (other.await rescue $!.class)]
        holder.cancel
      RUBY
  end
end
