# frozen_string_literal: true

require_relative "../../../support/channel_client"
require_relative "../../../support/rails_serving"

# Where config.pelton.cable is false, Action Cable calls channels in its own threads, beside the server's: their jobs
# run on the reactor of the server.
class PeltonAdapterThreadsTest < PeltonTest
  include RailsServing

  self.deadline = 120

  def test_jobs_of_channels_run_in_fibers_of_the_server
    serving = serve("waiting", environment: {"OFF" => "1"})
    Pelton.run do
      client = ChannelClient.new(serving.port, "JobsChannel")

      assert_equal "in a thread", client.ask("act", job: ["acted"])
      client.ask("act", job: ["on purpose"])
      client.ask("act", job: ["after the error"])
      eventually("the jobs", timeout: 20) do
        (["subscribed", "acted", "periodical", "after the error"] - ended(serving)).empty?
      end
      client.socket.close
      eventually("the last job", timeout: 20) { ended(serving).include?("unsubscribed") }
    end

    assert_empty notes(serving, / in a thread\z/)
    assert_equal ["on purpose"], notes(serving, /\Areported: /)
    assert_match(/^pelton: job NoteJob \(\h{8}-[-\h]+\): unhandled error/, serving.output)
    assert_equal 0, serving.stop.exitstatus
  end

  # The first job ends when the chain has ended, which ends when the server takes no more: both go on during the stop.
  def test_a_stop_lets_all_end_that_was_accepted_and_logs_the_rest
    servings = [0, 1].map { |workers| start("waiting", options: ["-w", workers.to_s], environment: {"OFF" => "1"}) }
    servings.each do |serving|
      await_start(serving)
      Pelton.run do
        client = ChannelClient.new(serving.port, "JobsChannel")
        client.ask("act", job: ["first", "the chain has ended"])
        client.ask("chain")
        closed = Pelton.spawn { client.await { false } }

        assert_equal 0, serving.stop.exitstatus, serving.output
        closed.await
      end
      refused = notes(serving, /\Arefused: /)

      assert_empty notes(serving, /\Aaccepted: /) - ended(serving)
      assert_empty ["first", "link 1", "unsubscribed"] - ended(serving)
      assert_includes refused, "late"
      assert_operator serving.output.scan(/^pelton: job NoteJob \(\h{8}-[-\h]+\) is refused: the server stops/).size,
        :>=, refused.size
    end
  end

  private

  # Those lines of the application, without what matches.
  def notes(serving, pattern)
    File.readlines("#{serving.folder}/notes", chomp: true).filter_map do |line|
      line.sub(pattern, "") if line.match?(pattern)
    end
  end

  def ended(serving) = notes(serving, / in a fiber\z/)
end
