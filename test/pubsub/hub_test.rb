# frozen_string_literal: true

require_relative "../test_helper"
require "pelton/pubsub/hub"
require "stringio"

class PubSubHubTest < PeltonTest
  Hub = Pelton::PubSub::Hub
  Wire = Pelton::PubSub::Wire
  RULE = Pelton::PubSub::History::Rule.new(10, 60)

  def setup
    @hub = Hub.open
  end

  def teardown
    @hub.close
  end

  def test_where_its_folder_is
    Dir.mktmpdir do |writable|
      hub = Hub.open(folders: ["#{writable}/none", writable])
      assert_equal writable, File.dirname(hub.path, 2)
      hub.close
      assert_empty Dir.children(writable)
      assert_match(/writable, which TMPDIR may name/,
        assert_raises(Errno::ENOENT) { Hub.open(folders: ["#{writable}/none"]) }.message)
    end
  end

  def test_all_get_all_in_one_order
    links = Array.new(3) { join }
    links.each_with_index.flat_map { |link, index| Array.new(10) { |number| [link, "#{index}.#{number}"] } }
      .each { |link, text| publish(link, text) }
    got = links.map { |link| Array.new(30) { received(link).text } }

    assert_equal 1, got.uniq.size
    3.times { |index| assert_equal Array.new(10) { |number| "#{index}.#{number}" }, got.first.grep(/\A#{index}/) }
  end

  def test_what_is_kept_has_numbers_and_goes_to_who_comes_later
    one = join
    publish(one, "a", RULE)
    publish(one, "nobody keeps it")
    publish(one, "\xff".b, RULE)
    assert_equal [[1, 1], [2, 0], [3, 2]], Array.new(3) { received(one).then { |got| [got.serial, got.offset] } }

    later = connect
    later.write(Wire.join("", 0))
    frames = Array.new(4) { next_frame(later) }
    assert_equal [Wire::WELCOME, Wire::KEPT, Wire::KEPT, Wire::READY], frames.map(&:first)
    assert_equal [["a", Encoding::UTF_8, 1], ["\xff".b, Encoding::BINARY, 2]],
      frames[1, 2].map { |_, body| Wire.parse(body) }.map { |got| [got.text, got.text.encoding, got.offset] }

    back = connect
    back.write(Wire.join(frames.first.last, 1))
    assert_equal [Wire::WELCOME, Wire::MESSAGE, Wire::READY], Array.new(3) { next_frame(back).first }
  end

  def test_who_sends_nonsense_is_cut_and_nobody_else
    log = logged do
      healthy = join
      [["\xff".b * 10], [Wire.frame(Wire::PUBLISH, "short")], [Wire.frame(Wire::READY)], [[5, 99].pack("L>C")],
        [Wire.frame(Wire::PUBLISH, [1, 60_000, 0, 0].pack("CS>L>G"))]].each do |bytes,|
        link = connect
        link.write(bytes)
        assert_nil link.read(1), bytes
      end
      publish(healthy, "still here")
      assert_equal "still here", received(healthy).text
    end

    assert_equal 5, log.scan("cuts off a process that sent").size
  end

  def test_who_does_not_read_is_cut_and_nobody_else
    @hub.close
    @hub = Hub.new("#{Dir.mktmpdir}/pubsub", limit: 1 << 20)
    log = logged do
      silent, healthy = join, join
      40.times do
        publish(healthy, "x" * 100_000)
        received(healthy)
      end
      assert_operator silent.read.bytesize, :<, 2 << 20
    end

    assert_equal 1, log.scan("does not read").size
  end

  # The hub finds out when it sends the first ones back, before it has read the others.
  def test_what_a_process_has_published_is_delivered_after_its_end
    healthy = join
    texts = ("a".."l").map { |letter| letter * 10_000 }
    5.times do
      link = connect
      link.write_nonblock([Wire.join("", 0), *texts.flat_map { |text| Wire.publish("t", text, nil) }].join)
      link.close

      assert_equal texts, texts.map { received(healthy).text }
    end
  end

  def test_only_its_owner_may_use_it_and_it_leaves_nothing_behind
    assert_equal 0o600, File.stat(@hub.path).mode & 0o777
    assert_equal 0o700, File.stat(File.dirname(@hub.path)).mode & 0o777
    link = join
    @hub.close
    assert_nil link.read(1)
    refute File.exist?(File.dirname(@hub.path))
    @hub = Hub.open
  end

  # As the master does when it starts itself again.
  def test_another_one_goes_on_with_what_it_kept
    one = join
    %w[a b].each { |text| publish(one, text, RULE) }
    publish(one, "nobody keeps it")
    3.times { received(one) }
    epoch = @hub.instance_variable_get(:@history).epoch
    @hub.hand_over
    assert_nil one.read(1)
    refute_predicate IO.for_fd(Integer(ENV.fetch(Hub::KEPT)), autoclose: false), :close_on_exec?

    @hub = Hub.open
    refute ENV.key?(Hub::KEPT)
    back = connect
    back.write(Wire.join(epoch, 1))
    frames = Array.new(3) { next_frame(back) }
    assert_equal [Wire::WELCOME, Wire::MESSAGE, Wire::READY], frames.map(&:first)
    assert_equal epoch, frames[0].last
    assert_equal "b", Wire.parse(frames[1].last).text
    assert_equal 3, frames[2].last.unpack1("Q>")
    publish(back, "c", RULE)
    got = received(back)
    assert_equal "c", got.text
    assert_equal 4, got.serial
    assert_equal 3, got.offset
  end

  def test_what_cannot_be_taken_over
    reader, writer = IO.pipe
    writer.write("\xff" * 100)
    writer.close
    Dir.mktmpdir do |folder|
      assert_match(/the kept messages are lost/, logged { Hub.new("#{folder}/pubsub", kept: reader).close })
      assert_predicate reader, :closed?
    end
  end

  def test_a_child_may_remove_what_its_parent_has_left
    assert_predicate Process.wait2(fork { exit!(!!@hub.remove) }).last, :success?
    refute File.exist?(File.dirname(@hub.path))
  end

  def test_a_child_forgets_it
    join
    pid = fork do
      @hub.forget
      exit!(0)
    end
    assert_predicate Process.wait2(pid).last, :success?
    assert join
  end

  private

  def connect = UNIXSocket.new(@hub.path)

  def join
    connect.tap do |link|
      link.write(Wire.join("", 0))
      nil until next_frame(link).first == Wire::READY
    end
  end

  def publish(link, text, rule = nil) = link.write(*Wire.publish("t", text, rule))

  def next_frame(link)
    length, kind = link.read(5).unpack("L>C")
    [kind, link.read(length)]
  end

  def received(link)
    kind, body = next_frame(link)
    assert_equal Wire::MESSAGE, kind
    Wire.parse(body)
  end

  def logged
    before, output = Pelton.logger, StringIO.new
    Pelton.logger = output
    yield
    output.string
  ensure
    Pelton.logger = before
  end
end
